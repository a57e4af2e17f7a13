import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "#contract/durations.ts";
import type { WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { assertCounted } from "../../../../test/support/funnel/analytics.ts";
import { assertPacksValid } from "../../../../test/support/funnel/packs.ts";
import { hitsOfVisits } from "../../../../test/support/funnel/random-hits.ts";
import { startOver } from "../../../../test/support/funnel/start-over.ts";
import { updateOrganization } from "../../organizations/queries.ts";
import { packVisits, rebuildPacks } from "../packs/pack-visits.ts";
import type { Hit } from "./hit.ts";
import { recordHits } from "./record.ts";

// The one promise that recording rests on: whatever is sent, in any order, however often, in any batches and over several
// connections at once, the numbers match a count of the hits by hand. This holds before and after visits are packed, after a
// rebuild, and in another time zone. A pack that is not outdated always has exactly the visits of its hours.

const { db } = await createTestDatabase();

// Clocks go back on 25 October 2026 in Europe and on 1 November in America; Lord Howe shifts by half an hour on 4 October;
// Nepal and the Chatham Islands are 45 minutes off; midnight is ambiguous in the Azores and can be missing in Beirut and Cairo.
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Asia/Kathmandu",
  "Pacific/Chatham",
  "Australia/Lord_Howe",
  "Atlantic/Azores",
  "Asia/Beirut",
  "Africa/Cairo",
  "America/St_Johns",
  "Pacific/Kiritimati",
  // Their rules changed recently, and the embedded PostgreSQL doesn't know.
  "America/Edmonton",
  "Africa/Casablanca",
  "Africa/El_Aaiun",
];
const FIRST = new Date("2026-08-20T00:00:00.000Z");
// Spans of 30 days start on 5 August, 4 September, 4 October and 3 November 2026; hours before 10 are packed.
const NOW = new Date("2026-11-09T10:15:00.000Z");

/** The last day alone, and more days than there are hits; others are drawn. */
const WINDOW_DAYS = [1, 120];
const DRAWN_DAYS = { min: 2, max: 80 };
const VISITS_MAX = 12;
const RUNS = 12;
const TIME_LIMIT_MS = 60_000;

type Scenario = {
  zone: string;
  otherZone: string;
  /** What happened, each hit once. */
  hits: Hit[];
  /** What is sent one by one before visits may be packed, and then all at once. */
  before: Hit[][];
  atOnce: Hit[][];
  packsBetween: boolean;
  windowDays: number[];
  /** The second window ends this long before NOW. */
  endsDaysAgo: number;
  /** How many days the plan keeps, in the windows that are drawn. */
  keptDays: number;
};

test("any order, duplication and batching of hits matches a count by hand, and so do rebuilds", async () => {
  const owner = await makeOrganization(db);
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  await fc.assert(
    fc.asyncProperty(scenarios(widgets), async (scenario) => {
      await startOver(db, owner, scenario.zone);
      const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);
      const windows = [
        ...WINDOW_DAYS.map((days) => ({ days, now: NOW })),
        ...scenario.windowDays.map((days, i) => ({
          ...{ days, now: daysAgo(i * scenario.endsDaysAgo) },
          keptSince: daysAgo(scenario.keptDays),
        })),
      ];
      const expected = { hits: scenario.hits, zone: scenario.zone, widgets, windows };

      for (const batch of scenario.before) await recordHits(db, batch);
      if (scenario.packsBetween) await packVisits(db, owner, { now: NOW });
      await Promise.all([
        ...scenario.atOnce.map((batch) => recordHits(db, batch)),
        ...[1, 2].map(() => packVisits(db, owner, { now: NOW })),
      ]);
      await assertPacksValid(db, owner);
      await assertCounted(db, owner, { ...expected, when: "recorded" });
      await packVisits(db, owner, { now: NOW });
      await assertPacksValid(db, owner);
      await assertCounted(db, owner, { ...expected, when: "packed" });

      await updateOrganization(db, owner, { time_zone: scenario.otherZone });
      const changed = { ...expected, zone: scenario.otherZone };
      await assertCounted(db, owner, { ...changed, when: "zone changed" });

      assert.equal(await rebuildPacks(db, owner, { now: NOW }), countRested(scenario.hits));
      await assertPacksValid(db, owner);
      await assertCounted(db, owner, { ...changed, when: "packed again" });
    }),
    // How long a failing run is shrunk before it is shown.
    { numRuns: RUNS, interruptAfterTimeLimit: TIME_LIMIT_MS },
  );
});

function scenarios(widgets: readonly WidgetId[]): fc.Arbitrary<Scenario> {
  return fc
    .record({
      zone: fc.constantFrom(...ZONES),
      otherZone: fc.constantFrom(...ZONES),
      hits: hitsOfVisits({ widgets, from: FIRST, to: NOW }, VISITS_MAX),
      packsBetween: fc.boolean(),
      windowDays: fc.array(fc.integer(DRAWN_DAYS), { minLength: 2, maxLength: 2 }),
      endsDaysAgo: fc.nat(60),
      keptDays: fc.oneof(fc.integer({ min: 20, max: 90 }), fc.constant(400)),
    })
    .chain((drawn) =>
      fc
        .tuple(fc.subarray(drawn.hits), fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 }), fc.nat(100))
        .chain(([again, batchSizes, beforePercent]) =>
          shuffled([...drawn.hits, ...again]).map((sent) => {
            const batches = toBatches(sent, batchSizes);
            const beforeCount = Math.round((batches.length * beforePercent) / 100);
            return { ...drawn, before: batches.slice(0, beforeCount), atOnce: batches.slice(beforeCount) };
          }),
        ),
    );
}

function shuffled<T>(items: T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length });
}

/** Uses the sizes in turn until everything is in a batch. */
function toBatches(hits: readonly Hit[], sizes: readonly number[]): Hit[][] {
  const batches: Hit[][] = [];
  for (let start = 0; start < hits.length; ) {
    const size = sizes[batches.length % sizes.length] ?? 1;
    batches.push(hits.slice(start, start + size));
    start += size;
  }
  return batches;
}

/** Visits that started before the last full hour. */
function countRested(hits: readonly Hit[]): number {
  const starts = new Map<string, number>();
  for (const { widgetId, visitId, at } of hits) {
    const key = `${widgetId} ${visitId}`;
    starts.set(key, Math.min(starts.get(key) ?? Number.POSITIVE_INFINITY, at.getTime()));
  }
  return [...starts.values()].filter((startMs) => startMs < Date.parse("2026-11-09T10:00:00Z")).length;
}
