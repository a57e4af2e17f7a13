import assert from "node:assert/strict";
import { test } from "node:test";
import { NEW_ENDPOINT, parseHeaders, toBody, toSeen } from "./endpoint-form.ts";

test("a new endpoint's fields become the API's defaults", () => {
  assert.deepEqual(toBody({ ...NEW_ENDPOINT, url: "https://example.com" }), {
    url: "https://example.com",
    description: "",
    eventTypes: ["booking.created"],
    reportsExpiry: false,
    widgetIds: null,
    services: null,
    channels: null,
    sources: null,
    campaigns: null,
    headers: {},
    requestsPerMinute: null,
  });
});

test("only edited fields are sent, and headers are not compared", () => {
  assert.deepEqual(toBody({ eventTypes: ["booking.erased", "expiry"], requestsPerMinute: " 60 " }), {
    eventTypes: ["booking.erased"],
    reportsExpiry: true,
    requestsPerMinute: 60,
  });
  assert.deepEqual(toSeen({ headers: "A: b", widgetIds: ["w_1"] }), { widgetIds: ["w_1"] });
  assert.equal(toBody({ requestsPerMinute: "many" }).requestsPerMinute, 0, "the server says what is wrong");
});

test("headers are read line by line; a masked value keeps the current one", () => {
  assert.deepEqual(parseHeaders("X-Api-Key: …\n\n Authorization : Bearer a:b \nBroken"), {
    "X-Api-Key": null,
    Authorization: "Bearer a:b",
    Broken: "",
  });
});
