import { Analytics, AnalyticsEntry, Breakdown, DailyEntry } from "../src/contract/analytics.ts";
import { Attribution } from "../src/contract/attribution.ts";
import { Answer, Booking, BookingPage, Customer, Service } from "../src/contract/booking.ts";
import { Deletion, DeletionPage } from "../src/contract/deletion.ts";
import {
  BookingCreatedEvent,
  BookingErasedEvent,
  EndpointTestEvent,
  WebhookAttribution,
  WebhookBooking,
} from "../src/contract/webhook-event.ts";
import { Widget } from "../src/contract/widget.ts";

// The wire shapes as plain types for sdk/, which has no dependencies, not even on our schema library.

/** The subset of JSON Schema that the contract uses. */
type Schema = {
  type?: string;
  description?: string;
  const?: unknown;
  enum?: readonly string[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  patternProperties?: Readonly<Record<string, Schema>>;
};

const NAMED = {
  Widget,
  Booking,
  BookingPage,
  Deletion,
  DeletionPage,
  Customer,
  Service,
  Answer,
  Attribution,
  Analytics,
  AnalyticsEntry,
  DailyEntry,
  Breakdown,
  BookingCreatedEvent,
  WebhookBooking,
  WebhookAttribution,
  BookingErasedEvent,
  EndpointTestEvent,
} as unknown as Readonly<Record<string, Schema>>;

export function renderClientTypes(): string {
  const types = Object.entries(NAMED).map(
    ([name, schema]) => `${toComment(schema, "")}export type ${name} = ${toShape(schema, "")};\n`,
  );
  return [
    "// The shapes of the read API and of webhooks. Made by `npm run generate` from src/contract.\n",
    ...types,
    "/** Events of other types may come one day: ignore what you do not know. */\n" +
      "export type WebhookEvent = BookingCreatedEvent | BookingErasedEvent | EndpointTestEvent;\n",
  ].join("\n");
}

/** The schema's name if it has one, otherwise its shape. */
function toType(schema: Schema, indent: string): string {
  const named = Object.entries(NAMED).find(([, one]) => one === schema);
  return named ? named[0] : toShape(schema, indent);
}

function toShape(schema: Schema, indent: string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (schema.anyOf) return schema.anyOf.map((one) => toType(one, indent)).join(" | ");
  if (schema.items) return `${toType(schema.items, indent)}[]`;
  if (schema.properties) return toRecord(schema, indent);
  const [value] = Object.values(schema.patternProperties ?? {});
  if (value) return `Record<string, ${toType(value, indent)}>`;
  if (schema.type === "integer") return "number";
  if (schema.type && ["string", "number", "boolean", "null"].includes(schema.type)) return schema.type;
  throw new Error(`There is no type for ${JSON.stringify(schema)}`);
}

function toRecord({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const mark = required.includes(name) ? "" : "?";
    return `${toComment(schema, inner)}${inner}${name}${mark}: ${toType(schema, inner)};\n`;
  });
  return `{\n${lines.join("")}${indent}}`;
}

function toComment({ description }: Schema, indent: string): string {
  return description === undefined ? "" : `${indent}/** ${description} */\n`;
}
