import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { countBlocked } from "../../../../test/support/database/count-blocked.ts";
import { until } from "../../../../test/support/until.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  headerOf,
  makeBusiness,
  makeEndpoint,
  moveClock,
  readAttempts,
  readDelivery,
  readEndpoint,
  startReplying,
  verify,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { redeliver } from "../log/resend.ts";
import { addEndpoint, deleteEndpoint, editEndpoint, rotateSecret } from "./endpoints.ts";
import { findEndpoint, listEndpoints } from "./queries.ts";
import { sendTestEvent } from "./send-test-event.ts";
import { toShortUrl } from "./to-app-endpoint.ts";

const service = await createWebhookService();
const { deps, clock, loop } = service;

test("an organization has at most 20 endpoints, even when added at once; removing one makes room", async () => {
  const business = await makeBusiness(deps);
  const { owner } = business;
  const wanted = { url: "http://127.0.0.1:9/", kind: "webhook", description: "" } as const;
  const outcomes = await Promise.all(
    Array.from({ length: deps.config.maxEndpoints + 5 }, () => addEndpoint(deps, owner, wanted, noAudit)),
  );
  assert.equal(outcomes.filter(({ kind }) => kind === "added").length, 20);
  assert.equal(outcomes.filter(({ kind }) => kind === "too_many").length, 5);
  const [first] = await listEndpoints(deps.db, business.owner);
  assert.ok(first && (await deleteEndpoint(deps, business.owner, first.id, noAudit)));
  assert.equal((await addEndpoint(deps, owner, wanted, noAudit)).kind, "added");
  assert.equal((await addEndpoint(deps, owner, wanted, noAudit)).kind, "too_many");
});

test("an unusable URL is refused when added or edited, with the reason", async () => {
  const business = await makeBusiness(deps);
  const { owner } = business;
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/a" });
  for (const url of [
    "example.com",
    "ftp://example.com/",
    "https://user:pw@example.com/",
    "https://10.0.0.1/",
    "https://169.254.169.254/latest",
    "https://[::ffff:10.0.0.1]/",
    "https://0x0a000001/",
    `https://127.0.0.1/${"x".repeat(2_048)}`,
  ]) {
    const added = await addEndpoint(deps, owner, { url, kind: "webhook", description: "" }, noAudit);
    assert.ok(added.kind === "url_refused" && added.reason.endsWith("."), url);
    const edited = await editEndpoint(deps, business.owner, { id, url }, noAudit);
    assert.equal(edited.kind, "url_refused", url);
  }
  assert.equal((await findEndpoint(deps.db, business.owner, id))?.url, "http://127.0.0.1:9/a");
});

test("the secret is shown once, has the documented format, and is nowhere in the database in plain text", async () => {
  const business = await makeBusiness(deps);
  const { id, secret } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/);
  const { rows } = await sql<{ text: string }>`select endpoints::text || encode(secret, 'escape') as text
    from endpoints where id = ${id}`.execute(deps.db);
  assert.ok(rows[0] && !rows[0].text.includes(secret.slice(6)));
  const row = await findEndpoint(deps.db, business.owner, id);
  assert.ok(row && !("secret" in row) && row.secret_hint === secret.slice(-4));
});

test("another organization can neither see nor change an endpoint", async () => {
  const business = await makeBusiness(deps);
  const { owner } = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  assert.deepEqual(
    [
      await findEndpoint(deps.db, owner, id),
      (await editEndpoint(deps, owner, { id, description: "mine" }, noAudit)).kind,
      (await editEndpoint(deps, owner, { id, isEnabled: false }, noAudit)).kind,
      await deleteEndpoint(deps, owner, id, noAudit),
      (await rotateSecret(deps, owner, { id, overlapHours: 24 }, noAudit)).kind,
      (await sendTestEvent(deps, { id: owner, name: "Other" }, id)).kind,
    ],
    [null, "not_found", "not_found", false, "not_found", "not_found"],
  );
  const row = await readEndpoint(deps, id);
  assert.deepEqual([row.status, row.removed_at, row.previous_secret], ["enabled", null, null]);
});

test("the next attempt goes to the edited URL, with a clean start", async () => {
  const business = await makeBusiness(deps);
  const before = await startReplying(() => ({ status: 503, headers: { "Retry-After": "3600" } }));
  const after = await startReplying(() => ({}));
  const { id } = await makeEndpoint(deps, business, { url: before.url });
  await book(deps, business);
  await deliverAll(loop);
  await editEndpoint(deps, business.owner, { id, url: after.url, description: "new" }, noAudit);
  const { failed_attempts, failing_since, paused_until, description } = await readEndpoint(deps, id);
  assert.deepEqual(
    { failed_attempts, failing_since, paused_until, description },
    {
      failed_attempts: 0,
      failing_since: null,
      paused_until: null,
      description: "new",
    },
  );
  moveClock(service, 3_600);
  await deliverAll(loop);
  assert.deepEqual([before.requests.length, after.requests.length], [1, 1]);
  assert.equal((await readDelivery(deps, business.owner)).state, "delivered");
});

test("a late reply from the old URL does not affect the new one", async () => {
  for (const late of [{ status: 410 }, { status: 503, headers: { "Retry-After": "3600" } }, { status: 200 }]) {
    const business = await makeBusiness(deps);
    const gate = Promise.withResolvers<void>();
    const before = await startReplying(async () => {
      await gate.promise;
      return late;
    });
    const after = await startReplying(() => ({ status: 500 }));
    const { id } = await makeEndpoint(deps, business, { url: before.url });
    await book(deps, business);
    await loop.goRound();
    await until(() => before.requests.length === 1, "it has arrived");
    await editEndpoint(deps, business.owner, { id, url: after.url }, noAudit);
    const edited = await readEndpoint(deps, id);
    gate.resolve();
    await loop.settled();
    assert.deepEqual(await readEndpoint(deps, id), edited, JSON.stringify(late));
    assert.equal((await readDelivery(deps, business.owner)).last_status, late.status, "but the log has it");

    await deliverAll(loop);
    const { status, last_status, failed_attempts } = await readEndpoint(deps, id);
    assert.deepEqual([status, last_status, failed_attempts], ["enabled", 500, 1]);
  }
});

test("a reply from the old URL does not decide a delivery: it is sent to the new one at once", async () => {
  for (const late of [{ status: 200 }, { status: 500 }, { status: 410 }])
    for (const trigger of ["automatic", "manual"] as const) {
      const label = `${trigger} ${late.status}`;
      const business = await makeBusiness(deps);
      const gate = Promise.withResolvers<void>();
      const before = await startReplying(async () => {
        await gate.promise;
        return late;
      });
      const { id } = await makeEndpoint(deps, business, { url: before.url });
      await book(deps, business);
      if (trigger === "manual") {
        await deps.db.deleteFrom("delivery_queue").where("organization_id", "=", business.owner).execute();
        await deps.db.updateTable("deliveries").set({ state: "failed" }).where("endpoint_id", "=", id).execute();
        const { id: deliveryId } = await readDelivery(deps, business.owner);
        await redeliver(deps, business.owner, deliveryId, noAudit);
      }
      await loop.goRound();
      await until(() => before.requests.length === 1, "it has arrived");
      const after = await startReplying(() => ({ status: trigger === "manual" ? 500 : 200 }));
      await editEndpoint(deps, business.owner, { id, url: after.url }, noAudit);
      gate.resolve();
      await loop.settled();
      const waiting = await readDelivery(deps, business.owner);
      const undecided = trigger === "manual" ? "failed" : "retrying";
      assert.deepEqual([waiting.state, waiting.retries_used, waiting.last_status], [undecided, 0, late.status], label);

      await deliverAll(loop);
      const { state, attempt_count } = await readDelivery(deps, business.owner);
      const decided = trigger === "manual" ? "failed" : "delivered";
      assert.deepEqual(
        [state, attempt_count, before.requests.length, after.requests.length],
        [decided, 2, 1, 1],
        label,
      );
      const attempts = await readAttempts(deps, business.owner);
      assert.deepEqual(
        attempts.map((attempt) => [attempt.trigger, attempt.status]),
        [
          [trigger, late.status],
          [trigger, trigger === "manual" ? 500 : 200],
        ],
        label,
      );
      moveClock(service, 3_600);
      await deliverAll(loop);
      assert.equal(after.requests.length, 1, label);
    }
});

test("a reply counts if only the same URL was saved again, or the endpoint was deleted", async () => {
  for (const change of ["same", "deleted"] as const) {
    const business = await makeBusiness(deps);
    const gate = Promise.withResolvers<void>();
    const receiver = await startReplying(async () => {
      await gate.promise;
      return {};
    });
    const { id } = await makeEndpoint(deps, business, { url: receiver.url });
    await book(deps, business);
    await loop.goRound();
    await until(() => receiver.requests.length === 1, "it has arrived");
    if (change === "same") await editEndpoint(deps, business.owner, { id, url: receiver.url }, noAudit);
    else await deleteEndpoint(deps, business.owner, id, noAudit);
    gate.resolve();
    await loop.settled();
    await deliverAll(loop);
    const { state } = await readDelivery(deps, business.owner);
    assert.deepEqual([state, receiver.requests.length], ["delivered", 1], change);
  }
});

test("an edit in progress takes precedence over a report waiting for it", async () => {
  const business = await makeBusiness(deps);
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    await gate.promise;
    return { status: 410 };
  });
  const { id } = await makeEndpoint(deps, business, { url: receiver.url });
  await book(deps, business);
  await loop.goRound();
  const url = `${receiver.url}/new`;
  await deps.db.transaction().execute(async (transaction) => {
    await transaction.updateTable("endpoints").set({ url, receiver: 2 }).where("id", "=", id).execute();
    gate.resolve();
    await until(async () => (await countBlocked(deps.db)) > 0, "the report waits");
  });
  await loop.settled();
  const { status, failed_attempts, last_status } = await readEndpoint(deps, id);
  assert.deepEqual([status, failed_attempts, last_status], ["enabled", 0, null]);
  assert.equal((await readDelivery(deps, business.owner)).state, "failed");
});

test("after a rotation both secrets verify for 24 hours, then only the new one", async () => {
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  const { id, secret: oldSecret } = await makeEndpoint(deps, business, { url: receiver.url });
  const rotated = await rotateSecret(deps, business.owner, { id, overlapHours: 24 }, noAudit);
  assert.ok(rotated.kind === "rotated");
  const { secret: newSecret } = rotated;
  assert.notEqual(newSecret, oldSecret);
  moveClock(service, 24 * 3_600 - 1);
  await book(deps, business);
  await deliverAll(loop);
  const [during] = receiver.requests;
  assert.ok(during);
  assert.match(headerOf(during, "Service-Signature"), /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
  assert.equal(verify(during, oldSecret, clock.now()).signatures, 2);
  verify(during, newSecret, clock.now());

  moveClock(service, 1);
  await book(deps, business);
  await deliverAll(loop);
  const after = receiver.requests[1];
  assert.ok(after);
  assert.match(headerOf(after, "Service-Signature"), /^t=\d+,v1=[0-9a-f]{64}$/);
  verify(after, newSecret, clock.now());
  assert.throws(() => verify(after, oldSecret, clock.now()), /a signature verifies/);
});

test("a test event is one attempt, marked as a test, and does not affect the endpoint's health", async () => {
  for (const kind of ["webhook", "slack", "teams"] as const) {
    const business = await makeBusiness(deps);
    const owner = { id: business.owner, name: "Lindenhof Dental" };
    const receiver = await startReplying(() => ({ status: 410 }));
    const { id, secret } = await makeEndpoint(deps, business, { url: receiver.url, kind });
    const outcome = await sendTestEvent(deps, owner, id);
    assert.ok(outcome.kind === "queued");
    await deliverAll(loop);
    moveClock(service, 7_200);
    await deliverAll(loop);
    assert.equal(receiver.requests.length, 1);
    const delivery = await readDelivery(deps, business.owner);
    assert.deepEqual([delivery.id, delivery.state, delivery.attempt_count], [outcome.deliveryId, "failed", 1]);
    assert.equal((await readAttempts(deps, business.owner)).length, 1);
    const { status, failed_attempts, failing_since } = await readEndpoint(deps, id);
    assert.deepEqual(
      { status, failed_attempts, failing_since },
      { status: "enabled", failed_attempts: 0, failing_since: null },
    );
    const [request] = receiver.requests;
    assert.ok(request);
    const body = JSON.parse(request.body.toString());
    if (kind === "webhook") {
      const sentAt = new Date(clock.now().getTime() - 2 * HOUR_MS);
      verify(request, secret, sentAt);
      assert.equal(headerOf(request, "Service-Event"), "endpoint.test");
      assert.deepEqual(body, {
        id: delivery.event_id,
        type: "endpoint.test",
        created: sentAt.toISOString(),
        apiVersion: "2026-11-01",
        data: { endpoint: { id }, business: { id: business.owner, name: "Lindenhof Dental" } },
      });
    } else assert.match(JSON.stringify(body), /Test message: new bookings will appear here/);
  }
});

test("a test event is refused for a disabled endpoint", async () => {
  const business = await makeBusiness(deps);
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  const owner = { id: business.owner, name: "Lindenhof" };
  await editEndpoint(deps, business.owner, { id, isEnabled: false }, noAudit);
  assert.deepEqual(await sendTestEvent(deps, owner, id), { kind: "disabled" });
});

test("only the host and the last characters of a chat's address are shown", () => {
  const url = "https://hooks.slack.com/services/T000/B000/XXXXsecret";
  assert.equal(toShortUrl(url), "https://hooks.slack.com/…cret");
});

test("an organization can send ten tests a minute; the next one is refused, but not another organization's", async () => {
  const business = await makeBusiness(deps);
  const owner = { id: business.owner, name: "Lindenhof Dental" };
  const { id } = await makeEndpoint(deps, business, { url: "http://127.0.0.1:9/" });
  const kinds = await Promise.all(Array.from({ length: 12 }, async () => (await sendTestEvent(deps, owner, id)).kind));
  assert.deepEqual(Map.groupBy(kinds, (kind) => kind).get("queued")?.length, 10);
  assert.deepEqual(Map.groupBy(kinds, (kind) => kind).get("too_many_tests")?.length, 2);
  const other = await makeBusiness(deps);
  const others = await makeEndpoint(deps, other, { url: "http://127.0.0.1:9/" });
  const sent = await sendTestEvent(deps, { id: other.owner, name: "Another" }, others.id);
  assert.equal(sent.kind, "queued");
  moveClock(service, 61);
  assert.equal((await sendTestEvent(deps, owner, id)).kind, "queued");
});
