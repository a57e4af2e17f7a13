import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { sql } from "kysely";
import type { Dimension } from "#contract/analytics/dimensions.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { killedAfter } from "../../../test/support/database/killed-after.ts";
import { findReader } from "../../../test/support/funnel/analytics.ts";
import { countAllByHand } from "../../../test/support/funnel/count-by-hand.ts";
import { assertPacksValid } from "../../../test/support/funnel/packs.ts";
import { oneFilter, toQuery } from "../../../test/support/funnel/random-filters.ts";
import { hitsOfVisits } from "../../../test/support/funnel/random-hits.ts";
import { startOver } from "../../../test/support/funnel/start-over.ts";
import type { Db } from "../db/connections/pool.ts";
import { readZoneRules, toLocalDay } from "../lib/time/zone-rules.ts";
import { updateOrganization } from "../organizations/queries.ts";
import { deleteExpiredVisits, forgetVisits, showSince } from "./delete-visits.ts";
import { findProgress, updateProgress } from "./packs/pack-queries.ts";
import { packVisits, rebuildPacks } from "./packs/pack-visits.ts";
import type { Hit } from "./record/hit.ts";
import { recordHits } from "./record/record.ts";
import { readReport } from "./report/app-report.ts";
import type { Filter } from "./report/filters.ts";

// Whatever happens to an organization, in any order, every report is a count by hand of the visits that are stored: recording,
// packing, rebuilds, retention, imports of what it deleted, deleting test data, other time zones, and processes that are killed
// after any statement of theirs.

const { db, url } = await createTestDatabase();

// Quarters of an hour, half an hour, clocks that change at midnight, and both ends of the world.
const ZONES = [
  ...[
    "UTC",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Pacific/Chatham",
    "Australia/Eucla",
    "Australia/Lord_Howe",
    "Asia/Beirut",
  ],
  ...["America/St_Johns", "Asia/Kolkata", "Africa/Cairo", "America/Havana", "Pacific/Kiritimati", "Pacific/Midway"],
];
const FIRST = new Date("2026-08-20T00:00:00.000Z");
const NOW = new Date("2026-11-09T10:15:00.000Z");
const RUNS = 10;
const TIME_LIMIT_MS = 60_000;
const LONG_AGO = new Date("1970-01-01T00:00:00Z");

/** `killedAfter` is the number of statements after which the process is killed; null if it may finish. */
type Step =
  | { kind: "record" | "import"; from: number; count: number }
  | { kind: "pack" | "rebuild"; killedAfter: number | null }
  | { kind: "meanwhile"; from: number; count: number }
  | { kind: "zone"; zone: string }
  | { kind: "expire"; days: number; killedAfter: number | null }
  | { kind: "forget"; widget: 0 | 1; untilDays: number; killedAfter: number | null };

type Selection = { days: number; endsDaysAgo: number; filters: Filter[] };

test("every report is a count by hand of what is stored, whatever happened before", async () => {
  const owner = await makeOrganization(db);
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)] as const;
  const scenarios = fc.record({
    hits: hitsOfVisits({ widgets, from: FIRST, to: NOW }, 16),
    steps: fc.array(steps(), { minLength: 3, maxLength: 10 }),
    selections: fc.array(selections(widgets), { minLength: 3, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(scenarios, async ({ hits, steps: script, selections: asked }) => {
      await startOver(db, owner, "UTC");
      await updateProgress(db, owner, { kept_since: LONG_AGO });
      const business = new Business(owner, { widgets, hits });
      for (const step of script) {
        await business.take(step);
        await assertPacksValid(db, owner);
        for (const selection of asked) await business.assertExact(selection, step.kind);
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: TIME_LIMIT_MS },
  );
});

class Business {
  readonly #owner: OrganizationId;
  readonly #widgets: readonly WidgetId[];
  readonly #hits: readonly Hit[];
  #recorded: readonly Hit[] = [];
  #zone = "UTC";

  constructor(owner: OrganizationId, { widgets, hits }: { widgets: readonly WidgetId[]; hits: readonly Hit[] }) {
    this.#owner = owner;
    this.#widgets = widgets;
    this.#hits = hits;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "record":
        return await this.#record(this.#choose(step));
      case "import": {
        const chosen = this.#choose(step);
        await this.#record(chosen);
        const oldest = Math.min(...chosen.map(({ at }) => at.getTime()));
        if (chosen.length > 0) await showSince(db, this.#owner, new Date(oldest));
        return;
      }
      case "pack":
        await killedAfter(url, step.killedAfter, (doomed) => packVisits(doomed, this.#owner, { now: NOW }));
        return;
      case "rebuild":
        await killedAfter(url, step.killedAfter, (doomed) => rebuildPacks(doomed, this.#owner, { now: NOW }));
        return;
      case "meanwhile":
        return await this.#recordMeanwhile(this.#choose(step));
      case "zone":
        await updateOrganization(db, this.#owner, { time_zone: step.zone });
        this.#zone = step.zone;
        return;
      case "expire": {
        const keptSince = new Date(NOW.getTime() - step.days * DAY_MS);
        return await this.#delete(step.killedAfter, (doomed) =>
          deleteExpiredVisits(doomed, this.#owner, { keptSince, limit: 3 }),
        );
      }
      case "forget": {
        const until = new Date(FIRST.getTime() + step.untilDays * DAY_MS);
        const widgetId = this.#widgets[step.widget] as WidgetId;
        return await this.#delete(step.killedAfter, (doomed) =>
          forgetVisits(doomed, this.#owner, { widgetId, where: sql`visit.started_at < ${until}` }),
        );
      }
      default:
        step satisfies never;
    }
  }

  #choose({ from, count }: { from: number; count: number }): readonly Hit[] {
    const first = from % this.#hits.length;
    return this.#hits.slice(first, first + count);
  }

  async #record(hits: readonly Hit[]): Promise<void> {
    if (hits.length > 0) await recordHits(db, hits);
    this.#recorded = [...this.#recorded, ...hits];
  }

  /** One by one, while packs are made and reports are read. Each report counts what was recorded at one moment since it was asked for. */
  async #recordMeanwhile(hits: readonly Hit[]): Promise<void> {
    const whole = { days: 120, endsDaysAgo: 0, filters: [] };
    const before = this.#recorded;
    let [recorded, isOver] = [0, false];
    const reading = (async () => {
      while (!isOver) {
        const first = recorded;
        const { totals, daily } = await this.#read(whole);
        // One may be recorded without our knowing it yet.
        const moments = Array.from({ length: recorded + 2 - first }, (_, n) => hits.slice(0, first + n));
        const byHand = await Promise.all(moments.map((some) => this.#countByHand(whole, [...before, ...some])));
        assert.ok(
          byHand.some(({ analytics }) => isDeepStrictEqual([analytics.totals, analytics.daily], [totals, daily])),
        );
      }
    })();
    const recording = (async () => {
      for (const hit of hits) {
        await this.#record([hit]);
        recorded += 1;
      }
    })();
    const packing = [1, 2].map(() => packVisits(db, this.#owner, { now: NOW }));
    const working = Promise.all([recording, ...packing]).finally(() => {
      isOver = true;
    });
    await Promise.all([working, reading]);
  }

  /** Retention takes batches until nothing is left. */
  async #delete(killedAfterStatements: number | null, run: (doomed: Db) => Promise<number>): Promise<void> {
    await killedAfter(url, killedAfterStatements, async (doomed) => {
      while ((await run(doomed)) > 0);
    });
    const { rows } = await sql<{ id: string }>`
      select widget_id || ' ' || visit_id as id from funnel_visits where organization_id = ${this.#owner}`.execute(db);
    const left = new Set(rows.map(({ id }) => id));
    this.#recorded = this.#recorded.filter(({ widgetId, visitId }) => left.has(`${widgetId} ${visitId}`));
  }

  async assertExact(selection: Selection, when: string): Promise<void> {
    const { from: _, to: __, now: ___, hourly: ____, lists, previous: _____, ...report } = await this.#read(selection);
    const { dataSince: ______, droppedEvents: _______, ...shown } = report;
    const byHand = await this.#countByHand(selection);
    assert.deepEqual(shown, byHand.analytics, `after ${when}`);
    for (const [dimension, list] of Object.entries(lists))
      assert.deepEqual(list.rows, byHand.lists[dimension as Dimension].slice(0, 25), `${dimension} after ${when}`);
  }

  async #read({ filters, ...window }: Selection) {
    const { first, last } = this.#toDays(window);
    const query = { ...toQuery(filters), from: first.toString(), to: last.toString() };
    const reader = await findReader(db, this.#owner);
    return await readReport({ db, clock: { now: () => NOW } }, reader, query);
  }

  async #countByHand({ filters, ...window }: Selection, hits = this.#recorded) {
    const { last } = this.#toDays(window);
    // Days that began before this may have lost visits.
    const { kept_since } = await findProgress(db, this.#owner);
    const keptSince = Temporal.Instant.fromEpochMilliseconds(kept_since.getTime() - 1)
      .toZonedDateTimeISO(this.#zone)
      .add({ days: 1 });
    return countAllByHand(hits, {
      ...{ zone: this.#zone, days: window.days, widgetId: null, filters },
      now: new Date(last.toZonedDateTime({ timeZone: this.#zone, plainTime: "12:00" }).epochMilliseconds),
      keptSince: new Date(keptSince.epochMilliseconds),
    });
  }

  #toDays({ days, endsDaysAgo }: Omit<Selection, "filters">) {
    const last = Temporal.PlainDate.from(toLocalDay(readZoneRules(this.#zone), NOW)).subtract({ days: endsDaysAgo });
    return { first: last.subtract({ days: days - 1 }), last };
  }
}

function steps(): fc.Arbitrary<Step> {
  const killed = fc.option(fc.integer({ min: 1, max: 40 }), { nil: null });
  const some = { from: fc.nat(100), count: fc.integer({ min: 1, max: 30 }) };
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("record" as const, "import" as const), ...some }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("pack" as const), killedAfter: killed }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("rebuild" as const), killedAfter: killed }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("meanwhile" as const), ...some }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("zone" as const), zone: fc.constantFrom(...ZONES) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("expire" as const),
        days: fc.integer({ min: 5, max: 80 }),
        killedAfter: killed,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("forget" as const),
        widget: fc.constantFrom(0 as const, 1 as const),
        untilDays: fc.nat(80),
        killedAfter: killed,
      }),
    },
  );
}

function selections(widgets: readonly WidgetId[]): fc.Arbitrary<Selection> {
  return fc.record({
    days: fc.constantFrom(1, 2, 7, 30, 45, 61, 100),
    endsDaysAgo: fc.constantFrom(0, 0, 0, 1, 6, 30),
    filters: fc.array(oneFilter(widgets), { maxLength: 1 }),
  });
}
