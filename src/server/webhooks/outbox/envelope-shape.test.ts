import assert from "node:assert/strict";
import { test } from "node:test";
import { Check } from "typebox/value";
import {
  BookingCreatedEvent,
  EndpointTestEvent,
  WEBHOOK_API_VERSION,
  WEBHOOK_HEADERS,
  WebhookAttribution,
  WebhookBooking,
} from "#contract/webhooks/webhook-event.ts";
import { bookingCreated, endpointTest } from "../../../../test/support/webhooks/card-sample.ts";

test("the envelope has exactly the contract's fields", () => {
  const { data } = BookingCreatedEvent.properties;
  assert.deepEqual(
    {
      envelope: Object.keys(BookingCreatedEvent.properties),
      data: Object.keys(data.properties),
      booking: Object.keys(WebhookBooking.properties),
      service: Object.keys(WebhookBooking.properties.service.properties),
      staff: Object.keys(WebhookBooking.properties.staff.items.properties),
      customer: Object.keys(WebhookBooking.properties.customer.properties),
      answer: Object.keys(WebhookBooking.properties.answers.items.properties),
      business: Object.keys(data.properties.business.properties),
      widget: Object.keys(data.properties.widget.properties),
      attribution: Object.keys(WebhookAttribution.properties),
      utm: Object.keys(WebhookAttribution.properties.utm.properties),
    },
    {
      envelope: ["id", "type", "created", "apiVersion", "data"],
      data: ["booking", "business", "widget", "attribution"],
      booking: [
        "reference",
        "id",
        "status",
        "start",
        "end",
        "timeZone",
        "service",
        "staff",
        "customer",
        "answers",
        "manageUrl",
        "joinUrl",
      ],
      service: ["id", "name"],
      staff: ["id", "name"],
      customer: ["name", "email", "phone", "notes"],
      answer: ["questionId", "question", "answer"],
      business: ["id", "name"],
      widget: ["id", "name"],
      attribution: [
        "source",
        "medium",
        "campaign",
        "channel",
        "landingPage",
        "referrer",
        "pageUrl",
        "utm",
        "clickIds",
        "gaClientId",
      ],
      utm: ["source", "medium", "campaign", "term"],
    },
  );
});

test("a booking's envelope and a test event are valid, and neither is mistaken for the other", () => {
  const event = bookingCreated({ attribution: { clickIds: { gclid: "Cj0KCQiA" }, utm: { source: "google" } } });
  assert.deepEqual(
    [
      Check(BookingCreatedEvent, event),
      Check(EndpointTestEvent, event),
      Check(EndpointTestEvent, endpointTest),
      Check(BookingCreatedEvent, endpointTest),
    ],
    [true, false, true, false],
  );
});

test("joinUrl is always present and may be null; manageUrl is omitted when there is none, never null", () => {
  const { joinUrl: _joinUrl, ...withoutJoin } = bookingCreated().data.booking;
  const { manageUrl: _manageUrl, ...withoutManage } = bookingCreated().data.booking;
  assert.deepEqual(
    [
      Check(WebhookBooking, withoutJoin),
      Check(WebhookBooking, { ...withoutJoin, joinUrl: null }),
      Check(WebhookBooking, withoutManage),
      Check(WebhookBooking, { ...withoutManage, manageUrl: null }),
    ],
    [false, true, true, false],
  );
});

test("the version and the header names are the published ones", () => {
  assert.deepEqual(
    [WEBHOOK_API_VERSION, WEBHOOK_HEADERS],
    ["2026-11-01", { eventType: "Service-Event", deliveryId: "Service-Delivery", signature: "Service-Signature" }],
  );
});
