import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import type { WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget, NOON, ownerOf } from "../../../../test/support/builders.ts";
import { createTestDatabase, onEveryServer } from "../../../../test/support/database/database.ts";
import { countViews, listEvents } from "../../../../test/support/funnel/collect.ts";
import { createLog } from "../../lib/log/log.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import type { Hit } from "./hit.ts";
import { HitWriter, WRITER_LIMITS } from "./hit-writer.ts";

function createOutages(): { outages: OutageLog; names: string[] } {
  const names: string[] = [];
  const log = createLog("info", { write: (line) => names.push((JSON.parse(line) as { name: string }).name) });
  return { outages: new OutageLog(log, { failed: "failed", resumed: "resumed" }), names };
}

const { outages } = createOutages();

function hit(widgetId: WidgetId, fields: Partial<Hit> = {}) {
  return {
    organizationId: ownerOf(widgetId),
    widgetId,
    visitId: randomUUID(),
    at: NOON,
    steps: 1,
    page: "https://www.lindenhof.example/",
    source: "(direct)",
    medium: "(none)",
    campaign: "(not set)",
    channel: "Direct",
    device: "desktop",
    country: "DE",
    conversion: null,
    mayStart: true,
    ...fields,
  };
}

const toOutcomes = (written: readonly { outcome: string }[]) => written.map(({ outcome }) => outcome);

test("hits that arrive together are recorded together, each with its own outcome", async () => {
  const { db } = await createTestDatabase();
  const owner = await makeOrganization(db);
  const [active, paused] = [await makeWidget(db, owner), await makeWidget(db, owner, { status: "paused" })];
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  const written = await Promise.all([
    writer.write(hit(active)),
    writer.write(hit(paused)),
    writer.write(hit("w_111111111111" as WidgetId)),
    writer.write(hit(active)),
  ]);
  assert.deepEqual(toOutcomes(written), ["recorded", "paused", "paused", "recorded"]);
  const { rows } = await sql<{ n: number }>`select count(distinct xmin::text) as n from funnel_visits`.execute(db);
  assert.deepEqual([rows[0]?.n, await countViews(db)], [1, 2], "two visits by one transaction");
});

test("a hit PostgreSQL cannot store fails alone", async () => {
  const { db } = await createTestDatabase();
  const widget = await makeWidget(db, await makeOrganization(db));
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  const hits = Array.from({ length: 40 }, (_, n) => hit(widget, n === 17 || n === 23 ? { page: "a\u0000b" } : {}));
  const written = await Promise.all(hits.map((one) => writer.write(one)));
  assert.deepEqual(
    toOutcomes(written),
    hits.map((one) => (one.page.includes("\u0000") ? "malformed" : "recorded")),
  );
  assert.equal(await countViews(db), 38);
});

test("a batch that loses to another transaction is retried", async () => {
  const { db, url } = await createTestDatabase();
  const widget = await makeWidget(db, await makeOrganization(db));
  // Fails the first two inserts with a deadlock.
  await onEveryServer("create sequence attempts", new URL(url).pathname.slice(1));
  await sql`create function fail_twice() returns trigger language plpgsql as $$ begin
    if nextval('attempts') <= 2 then raise exception using errcode = '40P01'; end if; return new; end $$`.execute(db);
  await sql`create trigger fail_twice before insert on funnel_visits for each row execute function fail_twice()`.execute(
    db,
  );
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  assert.equal((await writer.write(hit(widget))).outcome, "recorded");
  assert.equal(await countViews(db), 1);
});

test("a batch that keeps losing is given up after several attempts, and reported as unrecorded", async () => {
  const { db } = await createTestDatabase();
  const widget = await makeWidget(db, await makeOrganization(db));
  await sql`create function fail() returns trigger language plpgsql as $$ begin
    raise exception using errcode = '40001'; end $$`.execute(db);
  await sql`create trigger fail before insert on funnel_visits for each row execute function fail()`.execute(db);
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  assert.equal((await writer.write(hit(widget))).outcome, "database_unavailable");
  assert.equal((await listEvents(db)).length, 0);
});

test("without a database every writer gets an error, the log has one line, and writing resumes by itself", async () => {
  const { db, url } = await createTestDatabase();
  const widget = await makeWidget(db, await makeOrganization(db));
  const { outages, names } = createOutages();
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, WRITER_LIMITS);
  const name = new URL(url).pathname.slice(1);
  await onEveryServer(`alter database ${name} allow_connections false`);
  await onEveryServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  const away = await Promise.all(Array.from({ length: 2_000 }, () => writer.write(hit(widget))));
  assert.deepEqual(new Set(toOutcomes(away)), new Set(["database_unavailable"]));
  await onEveryServer(`alter database ${name} allow_connections true`);
  assert.equal((await writer.write(hit(widget))).outcome, "recorded");
  assert.deepEqual(names, ["failed", "resumed"]);
  assert.equal(await countViews(db), 1);
});

test("closing waits for accepted hits", async () => {
  const { db } = await createTestDatabase();
  const widget = await makeWidget(db, await makeOrganization(db));
  const writer = new HitWriter({ db, clock: { now: () => NOON }, outages }, { ...WRITER_LIMITS, batchMax: 10 });
  let settled = 0;
  for (let n = 0; n < 100; n++) void writer.write(hit(widget)).then(() => settled++);
  await writer.close();
  assert.deepEqual([settled, await countViews(db)], [100, 100]);
});
