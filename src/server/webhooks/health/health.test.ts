import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { readAudit } from "../../../../test/support/app/app-api.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import {
  type Business,
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readDeliveries,
  readEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { updateOrganization } from "../../organizations/queries.ts";
import { editEndpoint } from "../endpoints/endpoints.ts";
import { sendTestEvent } from "../endpoints/send-test-event.ts";
import { listNotices } from "./queries.ts";

const REDELIVER = "Fix the endpoint, then redeliver what it missed from the delivery log, which keeps it for 30 days.";

const service = await createWebhookService();
const { deps, clock, loop } = service;

const HOUR = 3_600;
const DAY = 24 * HOUR;

async function readNotices({ owner }: Business) {
  return (await listNotices(deps.db, owner, { limitEach: 50 }))
    .toReversed()
    .map(({ kind, created_at, detail }) => ({ kind, at: created_at.toISOString(), detail }));
}

/** "1 November 2026 at 12:00 (UTC)" */
function inWords(instant: string): string {
  const [day = "", time = ""] = [instant.slice(0, 10), instant.slice(11, 16)];
  const month = new Date(instant).toLocaleString("en", { month: "long", timeZone: "UTC" });
  return `${Number(day.slice(8))} ${month} ${day.slice(0, 4)} at ${time} (UTC)`;
}

/** Time passes, and whatever comes due is attempted. */
async function pass(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 1_800) {
    moveClock(service, Math.min(1_800, seconds - passed));
    await deliverAll(loop);
  }
}

test("owners are told of the first failed delivery, a day before the endpoint is turned off, and when it is", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({ status: 500 }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const startedAt = clock.now().getTime();
  const at = (seconds: number) => new Date(startedAt + seconds * 1_000).toISOString();

  const given = await book(deps, business);
  await deliverAll(loop);
  await pass(8 * HOUR);
  const [first, ...none] = await readNotices(business);
  assert.equal(first?.kind, "exhausted");
  assert.equal(none.length, 0);
  assert.equal(
    first?.detail,
    `The delivery of ${given} failed and won't be retried. Last attempt: HTTP 500. ${REDELIVER}`,
  );

  await pass(4 * DAY - 8 * HOUR);
  const second = await book(deps, business);
  await deliverAll(loop);
  assert.deepEqual((await readNotices(business)).at(-1), {
    kind: "disabling_soon",
    at: at(4 * DAY),
    detail: `No delivery has succeeded since ${inWords(at(0))}. If no delivery succeeds by ${inWords(at(5 * DAY))}, the endpoint will be turned off at the next failure. Last attempt (booking ${second}): HTTP 500. ${REDELIVER}`,
  });
  assert.equal((await readEndpoint(deps, id)).status, "enabled");

  await pass(DAY - 1);
  await book(deps, business);
  await deliverAll(loop);
  assert.equal((await readEndpoint(deps, id)).status, "enabled", "not a second before five days");
  const third = await book(deps, business);
  moveClock(service, 1);
  await deliverAll(loop);
  const { status, disabled_reason, disabled_at } = await readEndpoint(deps, id);
  assert.deepEqual(
    { status, disabled_reason, disabled_at },
    {
      status: "disabled",
      disabled_reason: "failing",
      disabled_at: clock.now(),
    },
  );
  assert.deepEqual((await readNotices(business)).at(-1), {
    kind: "disabled",
    at: at(5 * DAY),
    detail: `The endpoint was turned off because deliveries kept failing. Last attempt (booking ${third}): HTTP 500. ${REDELIVER}`,
  });
  assert.deepEqual(await readAudit(deps.db, business.owner), [
    { action: "endpoint.turned_off", target: id, detail: { name: new URL(receiver.url).host, reason: "failing" } },
  ]);

  const before = receiver.requests.length;
  await book(deps, business);
  await pass(DAY);
  assert.equal(receiver.requests.length, before, "nothing more is sent");
  const states = (await readDeliveries(deps, business.owner)).map(({ state, cancel_reason }) => [state, cancel_reason]);
  assert.ok(states.slice(-3).every(([state, reason]) => state === "canceled" && reason === "endpoint_disabled"));
  const { values } = await deps.metrics.endpointsDisabled.get();
  assert.deepEqual(
    values.map(({ labels, value }) => [labels.reason, value]),
    [["failing", 1]],
  );
});

test("no endpoint is turned off without a warning a day before, however rarely anything is sent", async () => {
  const business = await makeBusiness(deps);
  await updateOrganization(deps.db, business.owner, { time_zone: "Europe/Berlin" });
  const receiver = await startReplying(() => ({ status: 500 }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  const tryOne = async () => {
    await book(deps, business);
    await deliverAll(loop);
    return [(await readEndpoint(deps, id)).status, (await readNotices(business)).at(-1)?.kind];
  };
  clock.set(new Date("2027-03-01T09:00:20.000Z"));
  await book(deps, business);
  await deliverAll(loop);
  await pass(8 * HOUR);
  clock.set(new Date("2027-03-06T15:30:40.000Z"));
  assert.deepEqual(await tryOne(), ["enabled", "disabling_soon"], "more than five days, but the owner wasn't warned");
  assert.match(
    (await readNotices(business)).at(-1)?.detail ?? "",
    /^No delivery has succeeded since 1 March 2027 at 10:00 \(Europe\/Berlin\)\. If no delivery succeeds by 7 March 2027 at 16:30 \(Europe\/Berlin\), the endpoint will be turned off at the next failure\. Last attempt \(booking SVC-\w{6}\): HTTP 500\. Fix the endpoint/,
  );
  clock.set(new Date("2027-03-07T15:30:39.999Z"));
  assert.deepEqual(await tryOne(), ["enabled", "disabling_soon"]);
  clock.set(new Date("2027-03-07T15:30:40.000Z"));
  assert.deepEqual(await tryOne(), ["disabled", "disabled"]);
  const kinds = async () => (await readNotices(business)).map(({ kind }) => kind);
  assert.deepEqual(await kinds(), ["exhausted", "disabling_soon", "disabled"]);

  await editEndpoint(deps, business.owner, { id, isEnabled: true }, noAudit);
  await book(deps, business);
  await deliverAll(loop);
  await pass(8 * HOUR);
  clock.set(new Date("2027-03-13T09:00:00.000Z"));
  assert.deepEqual(await tryOne(), ["enabled", "disabling_soon"], "a warning from before the reset does not count");
});

test("at most one notice of each kind is sent in 24 hours, however many deliveries fail", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({ status: 500 }));
  await makeEndpoint(deps, business, { url: receiver.url });
  for (let count = 0; count < 4; count++) await book(deps, business);
  await deliverAll(loop);
  await pass(20 * HOUR);
  assert.deepEqual(
    (await readNotices(business)).map(({ kind }) => kind),
    ["exhausted"],
  );
});

test("one success clears everything", async () => {
  const business = await makeBusiness(deps);
  let status = 500;
  const receiver = await startReplying(() => ({ status }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  await pass(4 * DAY + HOUR);
  status = 200;
  await book(deps, business);
  await deliverAll(loop);
  const { failing_since, failed_attempts, exhausted_deliveries, last_success_at } = await readEndpoint(deps, id);
  assert.deepEqual(
    { failing_since, failed_attempts, exhausted_deliveries, last_success_at },
    {
      failing_since: null,
      failed_attempts: 0,
      exhausted_deliveries: 0,
      last_success_at: clock.now(),
    },
  );
  status = 500;
  await pass(2 * DAY);
  await book(deps, business);
  await pass(DAY);
  assert.equal((await readEndpoint(deps, id)).status, "enabled", "the five days start over");
});

test("a delivered test counts as the last delivery, and ends no failure", async () => {
  const business = await makeBusiness(deps);
  let status = 500;
  const receiver = await startReplying(() => ({ status }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const failingSince = clock.now();
  status = 200;
  moveClock(service, 5);
  await sendTestEvent(deps, { id: business.owner, name: "Lindenhof Dental" }, id);
  await deliverAll(loop);
  const { failing_since, failed_attempts, last_success_at } = await readEndpoint(deps, id);
  assert.deepEqual(
    { failing_since, failed_attempts, last_success_at },
    { failing_since: failingSince, failed_attempts: 1, last_success_at: clock.now() },
  );
});

test("410 turns an endpoint off at once, notifies its owner, and cancels waiting deliveries", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying((_request, count) => ({ status: count === 1 ? 503 : 410 }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await deliverAll(loop);
  const reference = await book(deps, business);
  await deliverAll(loop);
  assert.deepEqual([(await readEndpoint(deps, id)).disabled_reason, receiver.requests.length], ["gone", 2]);
  assert.deepEqual(
    (await readNotices(business)).map(({ kind, detail }) => [kind, detail]),
    [
      [
        "disabled",
        `The endpoint was turned off because it returned 410 Gone. Last attempt (booking ${reference}): HTTP 410. ${REDELIVER}`,
      ],
    ],
  );
  assert.deepEqual(await readAudit(deps.db, business.owner), [
    { action: "endpoint.turned_off", target: id, detail: { name: new URL(receiver.url).host, reason: "gone" } },
  ]);
  assert.deepEqual(
    new Set((await readDeliveries(deps, business.owner)).map(({ state }) => state)),
    new Set(["failed", "canceled"]),
  );
  await pass(3 * HOUR);
  assert.equal(receiver.requests.length, 2);

  await editEndpoint(deps, business.owner, { id, isEnabled: true }, noAudit);
  await book(deps, business);
  await deliverAll(loop);
  assert.equal(receiver.requests.length, 3, "enabling it again is one action");
});

test("a chat that refuses three deliveries in a row is turned off, but not one that rejects our card", async () => {
  for (const [status, disabledReason] of [
    [404, "failing"],
    [400, null],
  ] as const) {
    const business = await makeBusiness(deps);
    const receiver = await startReplying(() => ({ status, body: "no_service" }));
    const { id } = await makeEndpoint(deps, business, { url: receiver.url, kind: "slack" });
    for (let count = 1; count <= 4; count++) {
      assert.equal((await readEndpoint(deps, id)).status, count === 4 && disabledReason ? "disabled" : "enabled");
      await book(deps, business);
      await deliverAll(loop);
      moveClock(service, 1);
    }
    assert.equal((await readEndpoint(deps, id)).disabled_reason, disabledReason);
    assert.equal(receiver.requests.length, disabledReason ? 3 : 4);
  }
  assert.ok(
    service.lines.some((line) => line.includes("delivery.card_refused")),
    "the operator is told",
  );
});

test("the owner is notified of a chat's first refused delivery, whatever the reason, and health shows it", async () => {
  const unposted = "HTTP 200, but the response says that nothing was posted";
  for (const [kind, status, body, said] of [
    ["teams", 400, '{"error":{"code":"WorkflowTriggerIsNotEnabled"}}', "HTTP 400 (WorkflowTriggerIsNotEnabled)"],
    ["teams", 413, "", "HTTP 413"],
    ["teams", 422, "", "HTTP 422"],
    ["slack", 400, "user_not_found", "HTTP 400 (user_not_found)"],
    ["slack", 400, "<script>", "HTTP 400"],
    ["slack", 200, "invalid_blocks", `${unposted} (invalid_blocks)`],
    ["teams", 200, "Webhook message delivery failed with error: HTTP error 403", unposted],
  ] as const) {
    const business = await makeBusiness(deps);
    const receiver = await startReplying(() => ({ status, body }));
    const { id } = await makeEndpoint(deps, business, { url: receiver.url, kind });
    const reference = await book(deps, business);
    await deliverAll(loop);
    const notices = await listNotices(deps.db, business.owner, { limitEach: 9 });
    assert.deepEqual(
      notices.map(({ kind, detail }) => [kind, detail]),
      [["exhausted", `The delivery of ${reference} failed and won't be retried. Last attempt: ${said}. ${REDELIVER}`]],
    );
    const { failing_since, failed_attempts } = await readEndpoint(deps, id);
    assert.deepEqual([failing_since, failed_attempts], [clock.now(), 1], `${kind} ${status}`);
  }
});

test("an endpoint that is gone is turned off together with its audit entry, or not at all", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({ status: 410 }));
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  const forbidden = sql`alter table audit_entries add constraint no_entry check (action <> 'endpoint.turned_off') not valid`;
  await forbidden.execute(deps.db);
  await deliverAll(loop);
  await sql`alter table audit_entries drop constraint no_entry`.execute(deps.db);
  assert.equal((await readEndpoint(deps, id)).status, "enabled");
  // The lease of the lost report expires, and the delivery is tried again.
  moveClock(service, HOUR);
  await deliverAll(loop);
  moveClock(service, HOUR);
  await deliverAll(loop);
  assert.equal((await readEndpoint(deps, id)).status, "disabled");
  assert.equal((await readAudit(deps.db, business.owner)).length, 1);
});

test("a chat gets at most one message a second", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url, kind: "slack" });
  for (let count = 0; count < 3; count++) await book(deps, business);
  for (let sent = 1; sent <= 3; sent++) {
    await deliverAll(loop);
    assert.equal(receiver.requests.length, sent);
    moveClock(service, 1);
  }
});
