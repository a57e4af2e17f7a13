import type { TSchema } from "typebox";
import {
  BookingCancelledEvent,
  BookingCreatedEvent,
  BookingErasedEvent,
  BookingRescheduledEvent,
  EndpointTestEvent,
  WEBHOOK_API_VERSION,
  WEBHOOK_EVENT_TYPES,
  type WebhookEventType,
} from "#contract/webhook-event.ts";

const SCHEMAS: Readonly<Record<WebhookEventType, TSchema>> = {
  "booking.created": BookingCreatedEvent,
  "booking.cancelled": BookingCancelledEvent,
  "booking.rescheduled": BookingRescheduledEvent,
  "booking.erased": BookingErasedEvent,
  "endpoint.test": EndpointTestEvent,
};

/** Every event type with its JSON Schema and an example that fits it. */
export function listEventTypes() {
  return WEBHOOK_EVENT_TYPES.map((type) => ({
    type,
    apiVersion: WEBHOOK_API_VERSION,
    schema: SCHEMAS[type],
    example: toExample(SCHEMAS[type]),
  }));
}

/** Built from the examples in the schema. Optional fields without one are left out. */
export function toExample(schema: TSchema): unknown {
  const {
    examples,
    const: only,
    anyOf,
    items,
    properties,
  } = schema as {
    examples?: readonly unknown[];
    const?: unknown;
    anyOf?: readonly TSchema[];
    items?: TSchema;
    properties?: Readonly<Record<string, TSchema>>;
  };
  const given = examples?.[0] ?? only;
  if (given !== undefined) return given;
  if (anyOf) return anyOf.map(toExample).find((each) => each !== undefined) ?? null;
  if (items) return [toExample(items)];
  if (!properties) return undefined;
  const values = Object.entries(properties).map(([name, property]) => [name, toExample(property)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
