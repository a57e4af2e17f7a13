import assert from "node:assert/strict";
import { test } from "node:test";
import type { AppDelivery, AppDeliveryDetail, AppRedelivery } from "#contract/app/deliveries.ts";
import type { DeliveryId } from "#contract/ids.ts";
import { askApp } from "../../../../test/support/app/app-api.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { signIn } from "../../../../test/support/app/sign-in.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readDeliveries,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { sendTestEvent } from "../endpoints/send-test-event.ts";
import { redeliver } from "./resend.ts";

// What the delivery log shows and what can be redelivered is limited by time, even before the hourly sweep has run.

const service = await createWebhookService({ webhookRetrySchedule: [1] });
const { app, deps, loop } = service;

const DAY = 24 * 3_600;

type Ask = (route: string, body?: object) => ReturnType<typeof askApp>;

/** Sessions are shorter than the log's retention. */
async function enter({ owner }: Business): Promise<Ask> {
  const member = await signIn(service, { role: "admin", organizationId: owner });
  return (route, body) => askApp(app, member, route, body);
}

async function listIds(ask: Ask, path = "/deliveries"): Promise<DeliveryId[]> {
  const { body } = await ask(`GET ${path}`);
  const page = body as { data?: AppDelivery[]; deliveries?: AppDelivery[] };
  return (page.data ?? page.deliveries ?? []).map(({ id }) => id as DeliveryId);
}

/** Two bookings given up after two attempts; returns their delivery ids, oldest first. */
async function failTwice(business: Business): Promise<[DeliveryId, DeliveryId]> {
  for (let n = 0; n < 2; n++) {
    moveClock(service, 0.001);
    await book(deps, business);
  }
  await deliverAll(loop);
  moveClock(service, 1);
  await deliverAll(loop);
  const [first, second] = (await readDeliveries(deps, business.owner)).slice(-2);
  assert.ok(first?.state === "failed" && second?.state === "failed");
  return [first.id, second.id];
}

test("thirty days after its last attempt a delivery is no longer shown and cannot be redelivered", async () => {
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying(() => ({ status: 500 }));
  const { id: endpointId } = await makeEndpoint(deps, business, { url: receiver.url });
  const [old, young] = await failTwice(business);
  moveClock(service, 29 * DAY);
  let ask = await enter(business);
  assert.equal((await ask(`POST /deliveries/${young}/redeliver`)).status, 202);
  await deliverAll(loop);
  assert.deepEqual(await listIds(ask), [young, old]);

  moveClock(service, DAY + 1);
  ask = await enter(business);
  assert.deepEqual(await listIds(ask), [young], "only those attempted within 30 days");
  const { attempts } = (await ask(`GET /deliveries/${young}`)).body as AppDeliveryDetail;
  assert.deepEqual(
    attempts.map(({ number }) => number),
    [3],
    "of its attempts too",
  );
  assert.equal((await ask(`GET /deliveries/${old}`)).status, 404);
  assert.equal((await ask(`POST /deliveries/${old}/redeliver`)).status, 404);
  assert.deepEqual(await redeliver(deps, business.owner, old, noAudit), { kind: "not_found" });
  const since = new Date(0).toISOString();
  const all = await ask("POST /redeliveries", { from: since, endpoint: endpointId });
  assert.equal((all.body as AppRedelivery).matched, 1);
  await deliverAll(loop);
  const references = await deps.db.selectFrom("webhook_events").select("reference").orderBy("created_at").execute();
  const shown = await Promise.all(references.map(({ reference }) => listIds(ask, `/bookings/${reference}`)));
  assert.deepEqual(shown, [[], [young]], "nor with its booking, which is kept longer");
});

test("all failed deliveries are redelivered, but not the tests", async () => {
  const business = await makeBusiness(deps);
  let status = 500;
  const receiver = await startReplying(() => ({ status }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await sendTestEvent(deps, { id: business.owner, name: "Any" }, id);
  await failTwice(business);
  status = 200;
  const ask = await enter(business);
  const { body } = await ask("POST /redeliveries", { from: new Date(0).toISOString(), endpoint: id });
  assert.equal((body as AppRedelivery).matched, 2);
  const sent = receiver.requests.length;
  await deliverAll(loop);
  assert.equal(receiver.requests.length, sent + 2);
  const states = (await readDeliveries(deps, business.owner)).map(({ state }) => state);
  assert.deepEqual(states.toSorted(), ["delivered", "delivered", "failed"]);
});

test("the log of another organization's or an unknown endpoint is not found; that of a removed one is", async () => {
  const [mine, theirs] = [await makeBusiness(deps), await makeBusiness(deps)];
  const receiver = await startReplying(() => ({}));
  const own = await makeEndpoint(deps, mine, { url: receiver.url });
  const foreign = await makeEndpoint(deps, theirs, { url: receiver.url });
  await book(deps, mine);
  await deliverAll(loop);
  const ask = await enter(mine);
  const [nonsense, other] = await Promise.all(
    ["nonsense", foreign.id].map((id) => ask(`GET /deliveries?endpoint=${id}`)),
  );
  assert.equal(other?.status, 404);
  assert.deepEqual(other, nonsense);
  await ask(`DELETE /endpoints/${own.id}`);
  assert.equal((await listIds(ask, `/deliveries?endpoint=${own.id}`)).length, 1);
});
