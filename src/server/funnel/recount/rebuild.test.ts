import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { Analytics } from "#contract/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase, nameConnections } from "../../../../test/support/database/database.ts";
import { stopStopwatch, workAsOthers } from "../../../../test/support/database/others-at-work.ts";
import { assertCounted, readAnalytics, readCounters } from "../../../../test/support/funnel/analytics.ts";
import { sampleTouches } from "../../../../test/support/funnel/random-touches.ts";
import { makeTouch } from "../../../../test/support/funnel/touches.ts";
import { selectAnalytics } from "../../analytics/queries.ts";
import { SETTINGS } from "../../config.ts";
import { engineOf } from "../../db/engine.ts";
import { createListen } from "../../db/listen.ts";
import { openDb, openPool } from "../../db/pool.ts";
import { createLog } from "../../lib/log/log.ts";
import { readZoneRules } from "../../lib/time/zone-rules.ts";
import { updateOrganization } from "../../organizations/queries.ts";
import { saveZoneOffsets } from "../../organizations/zone-offsets.ts";
import { recordTouches } from "../record/record.ts";
import type { Touch } from "../record/touch.ts";
import { rebuildOutdated, rebuildStats } from "./rebuild.ts";
import { deleteUnusedCounters } from "./retention.ts";

const { db, url } = await createTestDatabase();

const FIRST = new Date("2026-08-20T00:00:00.000Z");
const NOW = new Date("2026-11-03T10:15:00.000Z");
const deps = { db, clock: { now: () => NOW } };
const WINDOWS = [1, 40, 120].map((days) => ({ days, now: NOW }));
const BATCH = 25;
/** The pause after a part that seems to take this long is longer than a test. */
const LONG_PART_MS = 20_000;

type Owner = { owner: OrganizationId; widgets: WidgetId[] };

async function makeOwner(timeZone: string): Promise<Owner> {
  const owner = await makeOrganization(db, { timeZone });
  return { owner, widgets: [await makeWidget(db, owner), await makeWidget(db, owner)] };
}

function sampleVisits({ widgets }: Owner, visits: number, seed: number): Touch[] {
  return sampleTouches({ widgets, from: FIRST, to: NOW }, { visits, seed });
}

async function recordInBatches(touches: readonly Touch[], size = BATCH): Promise<void> {
  for (let start = 0; start < touches.length; start += size) {
    await recordTouches(db, touches.slice(start, start + size));
  }
}

/** Rows in a set of counters other than the active one, after retention has run. */
async function countUnreadCounters(owner: OrganizationId): Promise<number> {
  await deleteUnusedCounters(db, owner, { keptSince: new Date(0), limit: 100_000 });
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from (
      select organization_id, version from funnel_days
      union all select organization_id, version from funnel_key_days
      union all select organization_id, version from funnel_key_spans
    ) counted
    join day_zones using (organization_id)
    where organization_id = ${owner} and counted.version <> day_zones.version`.execute(db);
  return rows[0]?.count ?? 0;
}

describe("during a rebuild", () => {
  test("a listening process needs no more than the minimum number of connections", async () => {
    const business = await makeOwner("Europe/Berlin");
    const sizes = Array.from({ length: 20 }, (_, index) => index + 1);
    const size = sizes.find((count) => "value" in SETTINGS.databasePoolSize.parse(String(count))) ?? 0;
    const pool = openPool({ url, size, log: createLog("silent") });
    const { promise: isListening, resolve } = Promise.withResolvers<void>();
    const listening = createListen({ pool, log: createLog("silent") })("anything", resolve);
    await isListening;
    const rebuilt = await rebuildStats({ ...deps, db: openDb(pool) }, business.owner);
    assert.equal(rebuilt.kind, "rebuilt");
    await listening.stop();
    await pool.end();
  });

  test("two connections count together while nobody else is at work", async (context) => {
    if (engineOf(db) === "citus") return context.skip("On Citus one connection counts");
    const business = await makeOwner("Europe/Berlin");
    const { widgets } = business;
    const touches = sampleTouches(
      { widgets, from: new Date("2025-08-20T00:00:00.000Z"), to: NOW },
      { visits: 100, seed: 9 },
    );
    await recordInBatches(touches, 200);
    const { promise: isHelped, resolve } = Promise.withResolvers<void>();
    let parts = 0;
    await rebuildStats(deps, business.owner, {
      // The first connection waits here for a part that only the second can count.
      progress: async () => {
        parts += 1;
        if (parts === 1) await isHelped;
        else resolve();
      },
    });
    assert.ok(parts > 2);
    await assertCounted(db, business.owner, {
      ...business,
      touches,
      zone: "Europe/Berlin",
      windows: [...WINDOWS, { days: 500, now: NOW }],
      when: "after",
    });
  });

  test("a part with many visits is counted in steps of ten days, which make up its span of sixty", async (context) => {
    if (engineOf(db) === "citus") return context.skip("Parts are shorter on Citus");
    const business = await makeOwner("Europe/Berlin");
    // One span of sixty days, without its first and its last day.
    const period = { from: new Date("2026-07-08T00:00:00.000Z"), to: new Date("2026-09-02T00:00:00.000Z") };
    const touches = sampleTouches({ ...period, widgets: business.widgets }, { visits: 5_100, seed: 13 });
    const isLate = (index: number) => index % 100 === 0;
    const meanwhile = touches.filter((_, index) => isLate(index));
    await recordInBatches(
      touches.filter((_, index) => !isLate(index)),
      2_000,
    );
    let steps = 0;
    await rebuildStats(deps, business.owner, {
      progress: async () => {
        steps += 1;
        await recordTouches(db, meanwhile.splice(0, 20));
      },
    });
    await recordInBatches(meanwhile, 2_000);
    assert.equal(steps, 6);
    const windows = [...WINDOWS, { days: 150, now: NOW }];
    await assertCounted(db, business.owner, { ...business, touches, zone: "Europe/Berlin", windows, when: "after" });
    const { rows } = await sql<{ span_days: number; views: number }>`
      select span_days, sum(views)::integer as views from funnel_key_spans join day_zones using (organization_id, version)
      where organization_id = ${business.owner} and widget_id = '' group by span_days order by span_days`.execute(db);
    const [{ views = 0 } = {}] = rows;
    assert.ok(views > 5_000);
    assert.deepEqual(
      rows,
      [5, 10, 60].map((span_days) => ({ span_days, views })),
    );
  });

  test("a second connection that is left alone with its part goes on while others are at work", async (context) => {
    if (engineOf(db) === "citus") return context.skip("On Citus one connection counts");
    const { owner, widgets } = await makeOwner("UTC");
    const [widgetId] = widgets as [WidgetId];
    // One visit for the first connection, and a part of several steps for the second.
    const early = makeTouch({ widgetId, visit: 0, at: "2026-06-20T12:00:00.000Z" });
    const touches = Array.from({ length: 5_001 }, (_, visit) =>
      makeTouch({ widgetId, visit: visit + 1, at: new Date(Date.UTC(2026, 6, 8 + (visit % 56), 12)) }),
    );
    await recordInBatches([early, ...touches], 2_000);
    const stopwatch = stopStopwatch(context);
    const { promise: isHelped, resolve } = Promise.withResolvers<void>();
    let steps = 0;
    const outcome = await rebuildStats(deps, owner, {
      signal: AbortSignal.timeout(10_000),
      progress: async () => {
        steps += 1;
        if (steps === 1) {
          stopwatch.advance(LONG_PART_MS);
          return await isHelped;
        }
        resolve();
        // The first connection finds nothing left, and ends.
        await setImmediate();
        if (steps === 2) stopwatch.advance(1_999);
        if (steps !== 3) return;
        await workAsOthers(db, { connections: 5, ms: 200 });
        stopwatch.advance(1);
      },
    });
    assert.deepEqual([outcome, steps], [{ kind: "rebuilt", visits: 5_002, zone: "UTC" }, 7]);
  });

  for (const areOthersAtWork of [true, false]) {
    test(`it ${areOthersAtWork ? "pauses" : "does not pause"} after a part while ${areOthersAtWork ? "others are" : "nobody else is"} at work`, async (context) => {
      if (engineOf(db) === "citus") return context.skip("On Citus there is no helper that looks before the first part");
      const business = await makeOwner("Europe/Berlin");
      const { widgets } = business;
      const year = { widgets, from: new Date("2025-08-20T00:00:00.000Z"), to: NOW };
      await recordInBatches(sampleTouches(year, { visits: 100, seed: 11 }), 200);
      const stopwatch = stopStopwatch(context);
      const { promise: isFirstDone, resolve } = Promise.withResolvers<void>();
      const stopping = new AbortController();
      let parts = 0;
      const rebuilding = rebuildStats(deps, business.owner, {
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(LONG_PART_MS)]),
        progress: async () => {
          parts += 1;
          if (areOthersAtWork) await workAsOthers(db, { connections: 5, ms: LONG_PART_MS / 25 });
          stopwatch.advance(LONG_PART_MS);
          resolve();
        },
      });
      if (!areOthersAtWork) return assert.equal((await rebuilding).kind, "rebuilt");
      await isFirstDone;
      await sql`select pg_sleep(0.5)`.execute(db);
      stopping.abort();
      assert.deepEqual([await rebuilding, parts], [{ kind: "stopped" }, 1]);
      assert.equal((await rebuildStats(deps, business.owner)).kind, "rebuilt", "for the tests of the background task");
    });
  }

  test("nothing keeps PostgreSQL from removing old versions between two parts", async () => {
    const business = await makeOwner("Europe/Berlin");
    await recordInBatches(sampleVisits(business, 60, 12), 200);
    const snapshots: unknown[] = [];
    await rebuildStats(deps, business.owner, {
      progress: async () => {
        if (snapshots.length > 0) return;
        const { rows } = await sql`
          select query from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null
            and query not like '%pg_stat%'`.execute(db);
        snapshots.push(rows);
      },
    });
    // Later the second connection may be counting.
    assert.deepEqual(snapshots, [[]]);
  });

  test("events recorded meanwhile, for old and new visits, are counted once", async () => {
    const business = await makeOwner("Europe/Berlin");
    const touches = sampleVisits(business, 600, 1);
    // Most visits are partly known before and partly arrive meanwhile; some are new; some arrive twice.
    const before = touches.filter((_, index) => index % 3 !== 0);
    const meanwhile = touches.filter((_, index) => index % 3 === 0 || index % 10 === 1);
    await recordInBatches(before, 100);
    await updateOrganization(db, business.owner, { time_zone: "America/St_Johns" });

    const recordFive = () => recordTouches(db, meanwhile.splice(0, 5));
    // Two writers record all the time, except for the last touches, which come between two parts.
    const writers = Array.from({ length: 2 }, async () => {
      while (meanwhile.length > 200) await recordFive();
    });
    let betweenParts = 0;
    const outcome = await rebuildStats(deps, business.owner, {
      // While this waits, others record: nobody waits for the recount.
      progress: async () => {
        if (meanwhile.length === 0) return;
        await recordFive();
        betweenParts += 1;
      },
    });
    await Promise.all(writers);
    await recordInBatches(meanwhile);
    assert.equal(outcome.kind, "rebuilt");
    assert.ok(betweenParts > 1, `${betweenParts} recordings came between two parts`);
    await assertCounted(db, business.owner, {
      ...business,
      touches,
      zone: "America/St_Johns",
      windows: WINDOWS,
      when: "after",
    });
    assert.equal(await countUnreadCounters(business.owner), 0);

    const incremental = await readCounters(db, business.owner);
    await rebuildStats(deps, business.owner);
    assert.deepEqual(await readCounters(db, business.owner), incremental, "every counter, not only those shown");
  });

  test("a visit that arrives last, just before the switch, is counted too", async () => {
    const business = await makeOwner("UTC");
    const touches = sampleVisits(business, 60, 8);
    await recordInBatches(touches, 100);
    const widgetId = business.widgets.toSorted().at(-1) as WidgetId;
    const last = { ...makeTouch({ widgetId, visit: 1, at: NOW }), visitId: "ffffffff-ffff-4fff-bfff-ffffffffffff" };
    let recordings = 0;
    await rebuildStats(deps, business.owner, {
      progress: async (visits) => {
        if (visits < 60 || recordings > 0) return;
        recordings += 1;
        await recordTouches(db, [last]);
      },
    });
    assert.equal(recordings, 1);
    await assertCounted(db, business.owner, {
      ...business,
      touches: [...touches, last],
      zone: "UTC",
      windows: WINDOWS,
      when: "after",
    });
  });

  test("readers see the new zone's numbers from the change on, and nothing in between", async () => {
    const business = await makeOwner("Pacific/Kiritimati");
    await recordInBatches(sampleVisits(business, 300, 2), 100);
    const read = () => readAnalytics(db, business.owner, { days: 70, now: NOW });
    const before = await read();

    let [isChanged, isRunning] = [false, true];
    const answers: { wasChanged: boolean; answer: Analytics }[] = [];
    const poll = async () => {
      while (isRunning) answers.push({ wasChanged: isChanged, answer: await read() });
    };
    const polls = [poll(), poll()];
    await updateOrganization(db, business.owner, { time_zone: "America/Los_Angeles" });
    isChanged = true;
    await rebuildStats(deps, business.owner, {
      progress: async () => {
        const enough = answers.length + 5;
        while (answers.length < enough) await setImmediate();
      },
    });
    isRunning = false;
    await Promise.all(polls);
    const after = await read();

    assert.deepEqual([before.timeZone, after.timeZone], ["Pacific/Kiritimati", "America/Los_Angeles"]);
    assert.notDeepEqual(before.daily, after.daily);
    assert.ok(answers.length > 10);
    for (const { wasChanged, answer } of answers)
      assert.deepEqual(answer, !wasChanged && answer.timeZone === before.timeZone ? before : after);
  });

  test("a second rebuild is refused as busy", async () => {
    const business = await makeOwner("UTC");
    await recordInBatches(sampleVisits(business, 40, 3), 100);
    let second: ReturnType<typeof rebuildStats> | null = null;
    const first = await rebuildStats(deps, business.owner, {
      progress: async () => {
        second ??= rebuildStats(deps, business.owner);
        await second;
      },
    });
    assert.deepEqual(await second, { kind: "busy" });
    assert.deepEqual(first, { kind: "rebuilt", visits: 40, zone: "UTC" });
  });

  test("another change of zone stops the background task's recount, and its next run counts in the newest zone", async () => {
    const business = await makeOwner("UTC");
    const { owner } = business;
    const touches = sampleVisits(business, 40, 4);
    await recordInBatches(touches, 100);
    await updateOrganization(db, owner, { time_zone: "Asia/Tokyo" });
    const lines: string[] = [];
    // The clock is read before anything is counted.
    const clock = {
      now: () => {
        changed ??= updateOrganization(db, owner, { time_zone: "America/Lima" });
        return NOW;
      },
    };
    let changed: Promise<unknown> | null = null;
    const log = createLog("info", { write: (line) => lines.push(line) });
    const runTask = () => rebuildOutdated({ db, clock, log }, new AbortController().signal);
    await runTask();
    await changed;
    const shown = { ...business, touches, zone: "America/Lima", windows: WINDOWS };
    await assertCounted(db, owner, { ...shown, when: "stopped" });
    assert.deepEqual([lines.join(), await findCountedZone(owner)], ["", "UTC"]);
    await runTask();
    await assertCounted(db, owner, { ...shown, when: "counted" });
    assert.deepEqual([lines.length, await findCountedZone(owner)], [1, "America/Lima"]);
  });

  test("after a change back, the counters answer at once", async () => {
    const business = await makeOwner("UTC");
    const { owner } = business;
    const touches = sampleVisits(business, 40, 9);
    await recordInBatches(touches, 100);
    await updateOrganization(db, owner, { time_zone: "Asia/Tokyo" });
    const stopping = new AbortController();
    await rebuildStats(deps, owner, { signal: stopping.signal, progress: () => stopping.abort() });
    await updateOrganization(db, owner, { time_zone: "UTC" });
    const window = { days: 40, now: NOW, keptSince: new Date(0), widgetId: null };
    assert.equal((await selectAnalytics(db, owner, window))?.zone, "UTC");
    await assertCounted(db, owner, { ...business, touches, zone: "UTC", windows: WINDOWS, when: "changed back" });
  });
});

describe("an interrupted rebuild leaves the numbers exact, and the next one finishes", () => {
  async function prepare(seed: number) {
    const business = await makeOwner("Europe/Berlin");
    const touches = sampleVisits(business, 60, seed);
    const [known, late] = [touches.slice(0, -40), touches.slice(-40)];
    await recordInBatches(known);
    await updateOrganization(db, business.owner, { time_zone: "Asia/Kathmandu" });
    return { ...business, touches, known, late };
  }

  async function assertRecovers(business: Awaited<ReturnType<typeof prepare>>): Promise<void> {
    const { owner, touches } = business;
    const shown = { ...business, zone: "Asia/Kathmandu", windows: WINDOWS };
    await assertCounted(db, owner, { ...shown, touches: business.known, when: "cut off" });
    await recordInBatches(business.late);
    await assertCounted(db, owner, { ...shown, touches, when: "recorded after it was cut off" });

    await rebuildOutdated({ ...deps, log: createLog("silent") }, new AbortController().signal);
    await assertCounted(db, owner, { ...shown, when: "finished" });
    assert.equal(await findCountedZone(owner), "Asia/Kathmandu");
    assert.equal(await countUnreadCounters(owner), 0);
  }

  test("after a signal, as when the process is stopped", async () => {
    const business = await prepare(5);
    const stopping = new AbortController();
    const outcome = await rebuildStats(deps, business.owner, {
      signal: stopping.signal,
      progress: () => stopping.abort(),
    });
    assert.deepEqual(outcome, { kind: "stopped" });
    await assertRecovers(business);
  });

  test("after an error between two chunks", async () => {
    const business = await prepare(6);
    const rebuild = rebuildStats(deps, business.owner, {
      progress: () => {
        throw new Error("the disk is gone");
      },
    });
    await assert.rejects(rebuild, { message: "the disk is gone" });
    await assertRecovers(business);
  });

  test("after losing its connections, as when the process is killed", async () => {
    const business = await prepare(7);
    const pool = openPool({ url: nameConnections(url, "doomed"), size: 3, log: createLog("silent") });
    let killed = 0;
    const rebuild = rebuildStats({ ...deps, db: openDb(pool) }, business.owner, {
      progress: async () => {
        const { rows } = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'doomed'`.execute(db);
        killed += rows.length;
      },
    });
    await assert.rejects(rebuild);
    assert.ok(killed > 0);
    await pool.end();
    await assertRecovers(business);
  });
});

describe("a rebuild repairs", () => {
  const cases: [what: string, damage: (owner: OrganizationId) => Promise<unknown>][] = [
    ["missing counters", (owner) => sql`delete from funnel_days where organization_id = ${owner}`.execute(db)],
    ["changed counters", (owner) => sql`update funnel_key_days set views = views + 7, bookings = 3 where organization_id = ${owner}`.execute(db)],
    ["extra counters", (owner) => sql`
      insert into funnel_days select organization_id, version, 'w_', '2026-10-10', 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 from day_zones where organization_id = ${owner}`.execute(db)],
    ["spans that do not add up", (owner) => sql`update funnel_key_spans set views = 0 where organization_id = ${owner}`.execute(db)],
  ]; // biome-ignore format: one damage a line
  for (const [index, [what, damage]] of cases.entries()) {
    test(what, async () => {
      const business = await makeOwner("Europe/Berlin");
      const touches = sampleVisits(business, 40, 10 + index);
      await recordInBatches(touches);
      await rebuildStats(deps, business.owner);
      const [counters, visits] = [await readCounters(db, business.owner), await readVisits(business.owner)];
      await damage(business.owner);
      assert.notDeepEqual(
        [await readCounters(db, business.owner), await readVisits(business.owner)],
        [counters, visits],
      );

      assert.deepEqual(await rebuildStats(deps, business.owner), {
        kind: "rebuilt",
        visits: 40,
        zone: "Europe/Berlin",
      });
      assert.deepEqual([await readCounters(db, business.owner), await readVisits(business.owner)], [counters, visits]);
      await assertCounted(db, business.owner, {
        ...business,
        touches,
        zone: "Europe/Berlin",
        windows: WINDOWS,
        when: "after",
      });
    });
  }
});

test("an organization without any events is counted too", async () => {
  const { owner } = await makeOwner("Asia/Tokyo");
  assert.deepEqual(await rebuildStats(deps, owner), { kind: "rebuilt", visits: 0, zone: "Asia/Tokyo" });
});

describe("the background task", () => {
  test("recounts in the new zone whatever was changed elsewhere, and continues after an organization fails", async () => {
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => lines.push(line) });
    const owners = [await makeOwner("UTC"), await makeOwner("UTC"), await makeOwner("UTC")];
    for (const { owner, widgets } of owners) {
      await recordTouches(db, [makeTouch({ widgetId: widgets[0] as WidgetId, visit: 1, at: "2026-11-02T20:00:00Z" })]);
      await updateOrganization(db, owner, { time_zone: "Asia/Tokyo" });
    }
    const [first, second, third] = owners.map(({ owner }) => owner) as [OrganizationId, OrganizationId, OrganizationId];
    await updateOrganization(db, first, { time_zone: "Mars/Olympus" });
    await sql`update day_zones set building_version = 2147483646, building_rules = rules where organization_id = ${second}`.execute(
      db,
    );

    await rebuildOutdated({ ...deps, log }, new AbortController().signal);
    const daysOf = async (owner: OrganizationId) => {
      const { timeZone, daily } = await readAnalytics(db, owner, { days: 2, now: NOW });
      return [timeZone, ...daily.map(({ views }) => views)];
    };
    assert.deepEqual(await daysOf(first), ["UTC", 1, 0]);
    assert.deepEqual([await daysOf(second), await findCountedZone(second)], [["Asia/Tokyo", 0, 1], "UTC"]);
    assert.deepEqual(await daysOf(third), ["Asia/Tokyo", 0, 1]);
    const said = lines.map((line) => JSON.parse(line) as { name: string; organizationId: OrganizationId });
    assert.deepEqual(
      said.map(({ name, organizationId }) => `${organizationId} ${name}`).sort(),
      [`${first} stats.zone_unknown`, `${second} stats.rebuild_failed`, `${third} stats.rebuilt`].sort(),
    );

    await recordTouches(db, [makeTouch({ widgetId: owners[0]?.widgets[0] as WidgetId, visit: 2, at: NOW })]);
    assert.deepEqual(await daysOf(first), ["UTC", 1, 1], "recording continues in the known zone");
  });

  test("recounts when the runtime has newer rules for the zone, but not when it has older ones", async () => {
    const { owner, widgets } = await makeOwner("America/Edmonton");
    // As a runtime before 2026 would have counted: clocks go back on the first Sunday in November.
    const before = { ...readZoneRules("America/Denver"), id: "America/Edmonton before" };
    await saveZoneOffsets(db, before);
    const widgetId = widgets[0] as WidgetId;
    const setRules = (release: string) =>
      sql`update day_zones set rules = ${before.id}, rules_release = ${release} where organization_id = ${owner}`.execute(
        db,
      );
    await setRules("2025b");
    await recordTouches(db, [makeTouch({ widgetId, visit: 1, at: "2026-11-03T06:30:00Z" })]);
    const read = async () => (await readAnalytics(db, owner, { days: 2, now: NOW })).daily.map(({ views }) => views);
    assert.deepEqual(await read(), [1, 0]);

    await setRules("9999z");
    await rebuildOutdated({ ...deps, log: createLog("silent") }, new AbortController().signal);
    assert.deepEqual(await read(), [1, 0]);

    await setRules("2025b");
    await rebuildOutdated({ ...deps, log: createLog("silent") }, new AbortController().signal);
    assert.deepEqual(await read(), [0, 1]);
  });

  test("does nothing when nothing changed, and stops when told to", async () => {
    const other = await createTestDatabase();
    const owner = await makeOrganization(other.db, { timeZone: "UTC" });
    const readVersion = () =>
      other.db.selectFrom("day_zones").select("version").where("organization_id", "=", owner).executeTakeFirst();
    const task = { ...deps, db: other.db, log: createLog("silent") };
    await rebuildOutdated(task, new AbortController().signal);
    assert.deepEqual(await readVersion(), { version: 1 });

    await updateOrganization(other.db, owner, { time_zone: "Asia/Tokyo" });
    await rebuildOutdated(task, AbortSignal.abort());
    assert.deepEqual(await readVersion(), { version: 1 });
    await rebuildOutdated(task, new AbortController().signal);
    assert.notDeepEqual(await readVersion(), { version: 1 });
  });
});

/** The zone of the counters. */
async function findCountedZone(owner: OrganizationId): Promise<string | undefined> {
  const row = await db.selectFrom("day_zones").select("zone").where("organization_id", "=", owner).executeTakeFirst();
  return row?.zone;
}

async function readVisits(owner: OrganizationId): Promise<unknown[]> {
  const { rows } = await sql`
    select to_jsonb(funnel_visits) as visit
    from funnel_visits where organization_id = ${owner} order by widget_id, visit_id`.execute(db);
  return rows;
}
