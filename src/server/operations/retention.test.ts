import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { createTestClock } from "../../../test/support/app/app.ts";
import { readTimes } from "../../../test/support/bookings/import-lines.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../test/support/builders.ts";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { stopStopwatch, workAsOthers } from "../../../test/support/database/others-at-work.ts";
import { deleteExpiredBookings } from "../bookings/stored/erase/erase.ts";
import { reserveReference } from "../bookings/stored/queries.ts";
import { type Db, openPool } from "../db/connections/pool.ts";
import type { Tables } from "../db/tables/tables.ts";
import { createLog } from "../lib/log/log.ts";
import { createMetrics } from "../lib/log/metrics.ts";
import { systemRandom } from "../lib/secrets/random.ts";
import { updateOrganization } from "../organizations/queries.ts";
import { sweepExpired } from "./retention.ts";

const { db, pool, url } = await createTestDatabase();
const metrics = createMetrics();
const lines: string[] = [];
const log = createLog("error", { write: (line) => lines.push(line) });

async function sweep(now = NOON, options: { db?: Db; signal?: AbortSignal } = {}): Promise<number> {
  const clock = createTestClock(now);
  return (await sweepExpired({ db: options.db ?? db, clock, random: systemRandom, metrics, log }, options.signal))
    .bookings;
}

const TABLES = [
  "bookings",
  "booking_references",
  "booking_clocks",
  "widgets",
  "visit_progress",
  "organizations",
] as const;

/** A sweep covers every organization, so each test starts without the previous test's. */
beforeEach(async () => {
  for (const table of TABLES) await db.deleteFrom(table).execute();
});

async function makeOwner(plan: Plan): Promise<{ owner: OrganizationId; widgetId: WidgetId }> {
  const owner = await makeOrganization(db, { plan });
  return { owner, widgetId: await makeWidget(db, owner) };
}

/** Bookings a second apart. By default they are long past retention on every plan. */
async function makeExpired(
  owner: OrganizationId,
  { widgetId, count, firstAt = new Date("2001-01-01") }: { widgetId: WidgetId; count: number; firstAt?: Date },
) {
  const { reference } = await makeBooking(db, owner, { widgetId, now: firstAt });
  await sql`
    insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone,
      service_id, service_name, staff, customer_name, customer_email, answers, attribution, api_json)
    select organization_id, reference || '-' || number, widget_id, status, created_at + number * interval '1 second',
      start_at, end_at, time_zone, service_id, service_name, staff, customer_name, customer_email, answers, attribution,
      api_json
    from bookings cross join generate_series(1, ${count - 1}::integer) as number
    where organization_id = ${owner} and reference = ${reference}`.execute(db);
  await sql`
    insert into booking_references (organization_id, reference)
    select organization_id, reference from bookings where organization_id = ${owner}
    on conflict do nothing`.execute(db);
}

/** Calls back once, after the first statement that deletes this organization's bookings. */
function watchFirstDelete(owner: OrganizationId, then: () => void, through = pool): Db {
  let isFirst = true;
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: through }),
    log: ({ query }) => {
      if (!isFirst || !query.sql.includes(`delete from "bookings"`) || !query.parameters.includes(owner)) return;
      isFirst = false;
      then();
    },
  });
}

async function countReferences(owner: OrganizationId): Promise<number> {
  return (await db.selectFrom("booking_references").select("reference").where("organization_id", "=", owner).execute())
    .length;
}

const CUTOFFS: readonly [what: string, plan: Plan, now: string, oldestKept: string][] = [
  ["30 days", "free", "2026-11-01T12:00:00.000Z", "2026-10-02T12:00:00.000Z"],
  ["30 days over a clock change in Europe", "free", "2026-04-10T00:30:00.000Z", "2026-03-11T00:30:00.000Z"],
  ["30 days over a leap day", "free", "2028-03-01T12:00:00.000Z", "2028-01-31T12:00:00.000Z"],
  ["12 months", "pro", "2026-11-01T12:00:00.000Z", "2025-11-01T12:00:00.000Z"],
  ["12 months from a leap day", "pro", "2028-02-29T12:00:00.000Z", "2027-02-28T12:00:00.000Z"],
  ["12 months back over a leap day", "pro", "2028-03-01T00:00:00.000Z", "2027-03-01T00:00:00.000Z"],
  ["12 months from the end of a month", "pro", "2027-08-31T23:59:59.999Z", "2026-08-31T23:59:59.999Z"],
  ["24 months", "business", "2026-11-01T12:00:00.001Z", "2024-11-01T12:00:00.001Z"],
  ["24 months from a leap day", "business", "2028-02-29T00:00:00.000Z", "2026-02-28T00:00:00.000Z"],
  ["24 months to a leap year", "business", "2030-02-28T00:00:00.000Z", "2028-02-28T00:00:00.000Z"],
];

for (const [what, plan, now, oldestKept] of CUTOFFS) {
  test(`${plan} keeps ${what}: at ${now} everything since ${oldestKept}, and nothing a millisecond older`, async () => {
    const { owner, widgetId } = await makeOwner(plan);
    const cutoff = new Date(oldestKept);
    const tooOld = await makeBooking(db, owner, { widgetId, now: new Date(cutoff.getTime() - 1) });
    const kept = await makeBooking(db, owner, { widgetId, now: cutoff });
    const young = await makeBooking(db, owner, { widgetId, now: new Date(now) });

    await sweep(new Date(now));

    assert.deepEqual(await readTimes(db, owner), [
      [kept.reference, oldestKept],
      [young.reference, now],
    ]);
    const isReserved = await reserveReference(db, owner, tooOld.reference as Reference);
    assert.equal(isReserved, false, "its reference is never given out again");
  });
}

test("each organization is swept by its own plan, and the counts are added up", async () => {
  const owners = { free: await makeOwner("free"), pro: await makeOwner("pro"), business: await makeOwner("business") };
  const ages = ["2026-10-31", "2026-09-01", "2025-09-01", "2023-09-01"].map((day) => new Date(`${day}T00:00:00.000Z`));
  for (const { owner, widgetId } of Object.values(owners)) {
    for (const now of ages.toReversed()) await makeBooking(db, owner, { widgetId, now });
  }
  const before = (await metrics.expiredRows.get()).values.find(({ labels }) => labels.kind === "booking")?.value ?? 0;

  assert.equal(await sweep(), 6);
  assert.deepEqual(
    await Promise.all(Object.values(owners).map(async ({ owner }) => (await readTimes(db, owner)).length)),
    [1, 2, 3],
  );
  assert.deepEqual(await Promise.all(Object.values(owners).map(({ owner }) => countReferences(owner))), [4, 4, 4]);
  const after = (await metrics.expiredRows.get()).values.find(({ labels }) => labels.kind === "booking")?.value ?? 0;
  assert.equal(after - before, 6);
  assert.equal(await sweep(), 0, "a second sweep finds nothing");
});

test("more than a batch is deleted in batches, down to the last row", async () => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 1_201 });
  assert.equal(await sweep(), 1_201);
  assert.deepEqual([await readTimes(db, owner), await countReferences(owner)], [[], 1_201]);
});

test("exactly one batch is deleted too", async () => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 500 });
  assert.equal(await sweep(), 500);
  assert.deepEqual(await readTimes(db, owner), []);
});

test("the abort signal stops a sweep between two batches, oldest deleted first", async () => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 1_100 });
  const all = await readTimes(db, owner);
  const stopping = new AbortController();

  const deleted = await sweep(NOON, { db: watchFirstDelete(owner, () => stopping.abort()), signal: stopping.signal });

  assert.equal(deleted, 500);
  assert.deepEqual(await readTimes(db, owner), all.slice(500));
  assert.equal(await sweep(NOON, { signal: stopping.signal }), 0, "and no other starts");
  assert.equal(await sweep(), 600);
});

test("a sweep pauses after a batch while others are at work", async (context) => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 1_600 });
  const stopwatch = stopStopwatch(context);
  const single = openPool({ url, size: 1, log: createLog("silent") });
  const stopping = new AbortController();
  let looks = 0;
  const onStatement = async (text: string) => {
    // A batch seems to take five seconds, in which others work for six.
    if (text.includes(`delete from "bookings"`)) stopwatch.advance(5_000);
    if (!text.includes("active_time")) return;
    looks += 1;
    if (looks === 1) {
      // The sweep waits for its only connection until the others are done.
      const held = await single.connect();
      await workAsOthers(db, { connections: 6, ms: 1_000 });
      held.release();
    }
    if (looks === 2) {
      await sql`select pg_sleep(0.5)`.execute(db);
      stopping.abort();
    }
  };
  const watched = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: single }),
    log: ({ query }) => void onStatement(query.sql),
  });
  assert.equal(await sweep(NOON, { db: watched, signal: stopping.signal }), 1_000);
  await single.end();
});

test("an organization that upgrades during a sweep keeps the rest", async () => {
  const { owner, widgetId } = await makeOwner("free");
  await makeExpired(owner, { widgetId, count: 700, firstAt: new Date("2026-05-01") });
  // With a single connection the upgrade, queued first, runs before the sweep's next statement.
  const single = openPool({ url, size: 1, log: createLog("silent") });
  let upgrade: Promise<unknown> = Promise.resolve();
  const watched = watchFirstDelete(
    owner,
    () => {
      upgrade = updateOrganization(watched, owner, { plan: "business" });
    },
    single,
  );
  assert.equal(await sweep(NOON, { db: watched }), 500);
  await upgrade;
  await single.end();
  assert.equal((await readTimes(db, owner)).length, 200);
});

test("a locked row is left for the next sweep", async () => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 3 });
  const [oldest] = await readTimes(db, owner);
  await db.transaction().execute(async (writer) => {
    await writer
      .selectFrom("bookings")
      .select("reference")
      .where("organization_id", "=", owner)
      .where("reference", "=", oldest?.[0] as never)
      .forUpdate()
      .execute();
    assert.equal(await sweep(), 2);
    assert.deepEqual(await readTimes(db, owner), [oldest]);
  });
  assert.equal(await sweep(), 1);
});

test("a booking being stored does not wait for a batch being deleted", async () => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 5 });
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: hasDeleted, resolve: deleted } = Promise.withResolvers<void>();
  const sweeping = db.transaction().execute(async (transaction) => {
    assert.equal(
      await deleteExpiredBookings(transaction, owner, {
        createdBefore: NOON,
        limit: 500,
        now: NOON,
        random: systemRandom,
      }),
      5,
    );
    deleted();
    await mayCommit;
  });
  await hasDeleted;
  const { reference } = await makeBooking(db, owner, { widgetId });
  commit();
  await sweeping;
  assert.deepEqual(await readTimes(db, owner), [[reference, NOON.toISOString()]]);
});

test("two sweeps at once delete everything once", async () => {
  const { owner, widgetId } = await makeOwner("business");
  await makeExpired(owner, { widgetId, count: 1_500 });
  const [one, other] = await Promise.all([sweep(), sweep()]);
  assert.equal(one + other, 1_500);
  assert.deepEqual(await readTimes(db, owner), []);
});

test("an organization that cannot be swept is logged, does not stop the others, and fails the sweep at the end", async () => {
  const owners = [await makeOwner("business"), await makeOwner("business"), await makeOwner("business")];
  for (const { owner, widgetId } of owners) await makeExpired(owner, { widgetId, count: 2 });
  const ids = owners.map(({ owner }) => owner).sort();
  const countLeft = async () => await Promise.all(ids.map(async (id) => (await readTimes(db, id)).length));
  await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$`.execute(db);
  await sql`
    create trigger refuse before delete on bookings for each row when (old.organization_id = ${sql.lit(ids[1])})
    execute function refuse()`.execute(db);

  await assert.rejects(sweep(), { message: "Organizations that could not be swept: 1" });
  assert.deepEqual(await countLeft(), [0, 2, 0]);
  const [line] = lines.map((text) => JSON.parse(text)).filter(({ name }) => name === "retention.failed");
  assert.deepEqual([line.organizationId, line.error.type], [ids[1], "DatabaseError"]);

  await sql`drop trigger refuse on bookings`.execute(db);
  assert.equal(await sweep(), 2, "and the next one finishes it");
});

test("a sweep without organizations, or without bookings, deletes nothing", async () => {
  const empty = await createTestDatabase();
  assert.equal(await sweep(NOON, { db: empty.db }), 0);
  await makeOrganization(empty.db);
  assert.equal(await sweep(NOON, { db: empty.db }), 0);
});
