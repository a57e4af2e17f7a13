import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { fillBookings, getPage, makeCaller, type TestCaller } from "../../../../test/support/app/read-api.ts";
import { makeBooking, makeKey, NOON } from "../../../../test/support/builders.ts";
import { revokeApiKey } from "../../api-keys/queries.ts";

// From a key's second request on, one statement checks the key and reads the page, shared by simultaneous requests.

const { app, deps, clock } = await createTestApp();
const { db } = deps;

async function statusOf({ headers }: Pick<TestCaller, "headers">, query = "limit=5"): Promise<number> {
  return (await app.inject({ url: `/api/v1/bookings?${query}`, headers })).statusCode;
}

let made = 0;

/** A caller whose key is cached, with three bookings at times that no other caller has. */
async function makeKnown(options: { expiresAt?: Date } = {}): Promise<TestCaller & { createdAts: string[] }> {
  const caller = await makeCaller(db, options);
  const firstAt = new Date(NOON.getTime() - 1_000 * ++made);
  const createdAts = await fillBookings(db, caller, { count: 3, firstAt });
  clock.set(new Date(NOON.getTime() + 1_000));
  assert.equal(await statusOf(caller), 200);
  return { ...caller, createdAts: createdAts.reverse() };
}

test("the first and second request with a key get the same bytes, at every page size", async () => {
  const caller = await makeKnown();
  const { key } = await makeKey(db, caller.owner);
  for (const limit of [1, 2, 3, 20, 21, 100, 500]) {
    const url = `/api/v1/bookings?limit=${limit}`;
    const [known, fresh] = [
      await app.inject({ url, headers: caller.headers }),
      await app.inject({ url: `${url}&widget=${caller.widgetId}`, headers: { authorization: `Bearer ${key}` } }),
    ];
    assert.equal(known.body, fresh.body);
    assert.equal(known.headers["content-type"], fresh.headers["content-type"]);
  }
});

test("a revoked key is refused on the next request, at every page size", async () => {
  for (const query of ["limit=5", "limit=100"]) {
    const caller = await makeKnown();
    await revokeApiKey(db, caller.keyId, clock.now());
    assert.equal(await statusOf(caller, query), 401);
  }
});

test("an expired key is refused from the instant it expires", async () => {
  const expiresAt = new Date(NOON.getTime() + 5_000);
  const caller = await makeKnown({ expiresAt });
  clock.set(new Date(expiresAt.getTime() - 1));
  assert.equal(await statusOf(caller), 200);
  clock.set(expiresAt);
  assert.equal(await statusOf(caller), 401);
});

test("losing and regaining a plan takes effect on the next request", async () => {
  const caller = await makeKnown();
  const setPlan = (plan: string) => sql`update organizations set plan = ${plan} where id = ${caller.owner}`.execute(db);
  await setPlan("pro");
  assert.deepEqual([await statusOf(caller), await statusOf(caller, "since=never")], [403, 403]);
  await setPlan("business");
  assert.deepEqual([await statusOf(caller), await statusOf(caller, "since=never")], [200, 400]);
});

test("the next request sees a new booking and no longer sees a deleted one", async () => {
  const caller = await makeKnown();
  const { reference } = await makeBooking(db, caller.owner, { widgetId: caller.widgetId, now: clock.now() });
  assert.equal((await getPage(app, caller.headers, { limit: 1 })).references[0], reference);
  await sql`delete from bookings where organization_id = ${caller.owner}`.execute(db);
  assert.deepEqual(await getPage(app, caller.headers), { createdAts: [], references: [], nextCursor: null });
});

test("simultaneous requests each get their own organization's page", async () => {
  const callers: Awaited<ReturnType<typeof makeKnown>>[] = [];
  for (let n = 0; n < 12; n++) callers.push(await makeKnown());
  const revoked = await makeKnown();
  await revokeApiKey(db, revoked.keyId, clock.now());
  const asked = Array.from({ length: 120 }, (_, n) => n);
  const [pages, refusals] = await Promise.all([
    Promise.all(asked.map((n) => getPage(app, callers[n % 12]?.headers ?? {}, { limit: 1 + (n % 4) }))),
    Promise.all(asked.map(() => statusOf(revoked))),
  ]);
  for (const [n, page] of pages.entries()) {
    const limit = 1 + (n % 4);
    const own = callers[n % 12]?.createdAts ?? [];
    assert.deepEqual(page.createdAts, own.slice(0, limit));
    assert.equal(page.nextCursor, limit >= 3 ? null : own[limit - 1]);
  }
  assert.deepEqual(new Set(refusals), new Set([401]));
});
