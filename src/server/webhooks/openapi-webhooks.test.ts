import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import { Booking, BookingPage } from "#contract/bookings/booking.ts";
import { BookingCreatedEvent, WEBHOOK_EVENT_TYPES } from "#contract/webhooks/webhook-event.ts";
import { WidgetList } from "#contract/widgets/widget.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { type OpenApiDocument, toSchemaExample } from "../../../test/support/app/schema-example.ts";

const { app } = await createTestApp();
const document: OpenApiDocument & { webhooks: Record<string, Record<string, Webhook>> } = (
  await app.inject("/api/v1/openapi.json")
).json();

type Webhook = { parameters: { name: string }[]; requestBody: object; responses: object };

test("booking.created is in the OpenAPI document, with its headers and its named envelope", () => {
  assert.deepEqual(Object.keys(document.webhooks), [...WEBHOOK_EVENT_TYPES]);
  const { post } = document.webhooks["booking.created"] ?? {};
  assert.deepEqual(
    post?.parameters.map(({ name }) => name),
    [
      ...["User-Agent", "Service-Event", "Service-Mode", "Service-Delivery", "Service-Signature"],
      ...["webhook-id", "webhook-timestamp", "webhook-signature"],
    ],
  );
  assert.match(JSON.stringify(post?.requestBody), /"\$ref":"#\/components\/schemas\/BookingCreatedEvent"/);
  assert.deepEqual(Object.keys(post?.responses ?? {}), ["410", "2XX", "default"]);
});

test("the other event types are there too, each with its own envelope", () => {
  for (const [type, name, responses] of [
    ["booking.cancelled", "BookingCancelledEvent", ["410", "2XX", "default"]],
    ["booking.rescheduled", "BookingRescheduledEvent", ["410", "2XX", "default"]],
    ["booking.erased", "BookingErasedEvent", ["410", "2XX", "default"]],
    ["endpoint.test", "EndpointTestEvent", ["2XX", "default"]],
  ] as const) {
    const { post } = document.webhooks[type] ?? {};
    assert.match(JSON.stringify(post?.requestBody), new RegExp(`"\\$ref":"#/components/schemas/${name}"`));
    assert.deepEqual(Object.keys(post?.responses ?? {}), responses);
  }
});

test("the examples are valid, complete, and describe one booking", () => {
  const exampleOf = (name: string) => toSchemaExample(document, { $ref: `#/components/schemas/${name}` });
  const [event, booking, page, widgets] = ["BookingCreatedEvent", "Booking", "BookingPage", "WidgetList"].map(
    exampleOf,
  );
  assert.ok(
    Check(BookingCreatedEvent, event) &&
      Check(Booking, booking) &&
      Check(BookingPage, page) &&
      Check(WidgetList, widgets),
  );
  assert.doesNotMatch(JSON.stringify([event, page, widgets]), /"string"/, "no field has a placeholder");
  const { reference, start, customer, service, answers: responses } = event.data.booking;
  assert.deepEqual(
    { reference, start, customer, service, answers: responses },
    {
      reference: booking.reference,
      start: booking.start,
      customer: booking.customer,
      service: booking.service,
      answers: booking.answers,
    },
  );
  assert.deepEqual(
    event.data.booking.staff.map(({ name }) => name),
    booking.staff,
  );
  assert.equal(event.data.widget.id, widgets.data[0]?.id);
  assert.equal(event.data.attribution.utm.source, booking.attribution.utmSource);
  assert.equal(event.data.attribution.clickIds["gclid"], booking.attribution.gclid);
});
