import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import { Booking, BookingPage } from "#contract/booking.ts";
import { BookingCreatedEvent } from "#contract/webhook-event.ts";
import { WidgetList } from "#contract/widget.ts";
import { createTestApp } from "../../../test/support/app.ts";
import { toSchemaExample } from "../../../test/support/schema-example.ts";
import type { OpenApiDocument } from "../reference/openapi-document.ts";
import { listWebhooks } from "../reference/operations.ts";

const { app } = await createTestApp();
const document: OpenApiDocument = (await app.inject("/api/v1/openapi.json")).json();

test("booking.created is in the OpenAPI document, with its headers and its envelope by name", () => {
  const [webhook, ...others] = listWebhooks(document);
  assert.ok(webhook && others.length === 0);
  assert.deepEqual([webhook.address, webhook.method], ["booking.created", "POST"]);
  assert.deepEqual(
    webhook.parameters.map(({ name }) => name),
    ["User-Agent", "Service-Event", "Service-Delivery", "Service-Signature"],
  );
  assert.deepEqual(webhook.body?.schema, { $ref: "#/components/schemas/BookingCreatedEvent" });
  assert.deepEqual(
    webhook.answers.map(({ status }) => status),
    ["2XX", "410", "default"],
  );
});

test("the reference page shows it", async () => {
  const { body } = await app.inject("/docs/api");
  assert.match(body, /Booking created/);
  assert.match(body, /id="schema-WebhookBooking"/);
});

test("the examples are valid, complete, and tell of one booking", () => {
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
  assert.doesNotMatch(JSON.stringify([event, page, widgets]), /"string"/, "no field is left to a stand-in");
  const { reference, start, customer, service, answers } = event.data.booking;
  assert.deepEqual(
    { reference, start, customer, service, answers },
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
