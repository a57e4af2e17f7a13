import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";

const { app, deps, clock } = await createTestApp();

async function readMetrics(pattern: RegExp): Promise<string[]> {
  const { body } = await app.inject("/metrics");
  return body.split("\n").filter((line) => pattern.test(line));
}

test("bookings are counted by outcome, once each, with the scheduling system's response time", async () => {
  const widgetId = await makeWidget(deps.db, await makeOrganization(deps.db));
  const day = (days: number) => new Date(clock.now().getTime() + days * DAY_MS).toISOString().slice(0, 10);
  const service = "service=consultation&staff=alex-kim";
  const slots = (await app.inject(`/embed-api/${widgetId}/slots?${service}&from=${day(1)}&to=${day(10)}`)).json();
  const wish = {
    visitId: randomUUID(),
    serviceId: "consultation",
    staffId: "alex-kim",
    start: slots.slots[0].start,
    timeZone: "Europe/Berlin",
    customer: { name: "Mara Quell", email: "mara.quell@example.com" },
  };
  const book = async (key: string) => {
    const headers = { "idempotency-key": key };
    const url = `/embed-api/${widgetId}/bookings`;
    return (await app.inject({ method: "POST", url, headers, payload: wish })).statusCode;
  };
  assert.deepEqual(await readMetrics(/^bookflow_bookings_total/), []);
  assert.deepEqual([await book("first"), await book("first"), await book("second")], [201, 201, 409]);
  assert.deepEqual(await readMetrics(/^bookflow_bookings_total/), [
    'bookflow_bookings_total{outcome="confirmed"} 1',
    'bookflow_bookings_total{outcome="slot_taken"} 1',
  ]);
  assert.deepEqual((await readMetrics(/^bookflow_scheduler_booking_duration_seconds_count/)).sort(), [
    'bookflow_scheduler_booking_duration_seconds_count{system="sandbox",outcome="booked"} 1',
    'bookflow_scheduler_booking_duration_seconds_count{system="sandbox",outcome="slot_taken"} 1',
  ]);
});

test("bookings without an outcome are counted as pending", async () => {
  const readUnsettled = () => readMetrics(/^bookflow_bookings_\w*unsettled/);
  assert.deepEqual(await readUnsettled(), [
    "bookflow_bookings_unsettled 0",
    "bookflow_bookings_oldest_unsettled_seconds 0",
  ]);
  await sql`update pending_bookings set state = 'asking', settled_at = null, created_at = ${new Date(
    clock.now().getTime() - 90_000,
  )}`.execute(deps.db);
  assert.deepEqual(await readUnsettled(), [
    "bookflow_bookings_unsettled 2",
    "bookflow_bookings_oldest_unsettled_seconds 90",
  ]);
});
