import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DIMENSIONS, type Dimension, NOT_SET, toNegatedName } from "#contract/analytics/dimensions.ts";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { MATCHES, type Match } from "#contract/app/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { findReader } from "../../../../test/support/funnel/analytics.ts";
import { countAllByHand } from "../../../../test/support/funnel/count-by-hand.ts";
import { assertPacksValid } from "../../../../test/support/funnel/packs.ts";
import { oneFilter, toQuery } from "../../../../test/support/funnel/random-filters.ts";
import { hitsOfVisits } from "../../../../test/support/funnel/random-hits.ts";
import { startOver } from "../../../../test/support/funnel/start-over.ts";
import { readZoneRules, toLocalDay } from "../../lib/time/zone-rules.ts";
import { packVisits } from "../packs/pack-visits.ts";
import { recordHits } from "../record/record.ts";
import { readReport, readSelection } from "./app-report.ts";
import { readBreakdown, readSplit, readTimes } from "./breakdown/breakdown.ts";
import type { Filter } from "./filters.ts";

// For any visits, time zone, window and filters, everything on the screen is what counting the hits by hand gives, whether it
// comes from totals, from packs, or from the visits of hours whose pack is missing or outdated.

const { db } = await createTestDatabase();

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/St_Johns",
  "Pacific/Chatham",
  "Asia/Beirut",
  "Africa/Casablanca",
  "Australia/Lord_Howe",
];
const FIRST = new Date("2026-09-20T00:00:00.000Z");
const NOW = new Date("2026-11-03T10:15:00.000Z");
const reading = { db, clock: { now: () => NOW } };
const RUNS = 20;
const TIME_LIMIT_MS = 60_000;
const PART = { search: null, sort: "bookings", isAscending: false, after: null, offset: 0, limit: 1_000 } as const;

type Scenario = {
  zone: string;
  hits: Parameters<typeof countAllByHand>[0];
  /** How many of the hits are recorded before packs are made, and whether the others come during that. */
  early: number;
  packs: "never" | "between" | "meanwhile" | "after";
  days: number;
  endsDaysAgo: number;
  /** Whether the days before that are compared with are whole weeks earlier. */
  match: Match;
  filters: Filter[];
};

test("any filters give what counting by hand gives, in totals, days, hours, funnel and every list", async () => {
  const owner = await makeOrganization(db);
  const widgets = [await makeWidget(db, owner, { name: "Home" }), await makeWidget(db, owner, { name: "Shop" })];
  await fc.assert(
    fc.asyncProperty(scenarios(widgets), async (scenario) => {
      await startOver(db, owner, scenario.zone);
      await recordAndPack(owner, scenario);
      await compare(owner, scenario);
      await compareOpposites(owner, scenario);
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: TIME_LIMIT_MS },
  );
});

async function recordAndPack(owner: OrganizationId, { hits, early, packs }: Scenario): Promise<void> {
  const [first, late] = [hits.slice(0, early), hits.slice(early)];
  if (first.length > 0) await recordHits(db, first);
  if (packs === "between") await packVisits(db, owner, { now: NOW });
  await Promise.all([
    ...late.map((hit) => recordHits(db, [hit])),
    ...(packs === "meanwhile" ? [packVisits(db, owner, { now: NOW }), packVisits(db, owner, { now: NOW })] : []),
  ]);
  if (packs === "after") await packVisits(db, owner, { now: NOW });
  await assertPacksValid(db, owner);
}

async function compare(owner: OrganizationId, scenario: Scenario): Promise<void> {
  const { zone, hits, days, endsDaysAgo, match, filters } = scenario;
  const today = toLocalDay(readZoneRules(zone), NOW);
  const lastDay = Temporal.PlainDate.from(today).subtract({ days: endsDaysAgo });
  const firstDay = lastDay.subtract({ days: days - 1 });
  const query = { ...toQuery(filters), from: firstDay.toString(), to: lastDay.toString(), match };
  const reader = await findReader(db, owner);
  const noonOf = (day: Temporal.PlainDate) =>
    new Date(day.toZonedDateTime({ timeZone: zone, plainTime: "12:00" }).epochMilliseconds);
  const window = { zone, now: noonOf(lastDay), days, widgetId: null, filters };
  const byHand = countAllByHand(hits, window);

  const report = await readReport(reading, reader, query);
  const {
    from: _,
    to: __,
    now: ___,
    hourly,
    lists,
    previous,
    dataSince: ____,
    droppedEvents: _____,
    ...shown
  } = report;
  assert.deepEqual(shown, byHand.analytics);
  for (const [dimension, list] of Object.entries(lists)) {
    assert.deepEqual(list.rows, byHand.lists[dimension as Dimension].slice(0, 25), dimension);
    assert.equal(list.count, byHand.lists[dimension as Dimension].length);
  }
  assert.equal(hourly === null, days > 2);
  if (hourly) {
    assert.equal(sum(hourly.map(({ views }) => views)), byHand.analytics.totals.views);
    assert.equal(sum(hourly.map(({ bookings }) => bookings)), byHand.analytics.totals.bookings);
  }

  // What happened today is compared with the same part of the earlier day.
  const time = Temporal.Instant.fromEpochMilliseconds(NOW.getTime()).toZonedDateTimeISO(zone).toPlainTime();
  const before = countAllByHand(hits, {
    ...window,
    now: noonOf(lastDay.subtract({ days: match === "weekday" ? Math.ceil(days / 7) * 7 : days })),
    ...(endsDaysAgo === 0 ? { untilTimeMs: time.since("00:00").total("milliseconds") } : {}),
  });
  assert.deepEqual(previous?.totals, before.analytics.totals);
  assert.deepEqual(previous?.daily, before.analytics.daily);

  const selection = await readSelection(reading, reader, query);
  for (const dimension of DIMENSIONS) {
    const { rows, count, most } = await readBreakdown(db, selection, { dimension, part: PART });
    assert.deepEqual(
      rows.map(({ label: _, ...row }) => row),
      byHand.lists[dimension],
      `all of ${dimension}`,
    );
    assert.equal(count, rows.length);
    const largest = (name: "views" | "bookings" | "conversionRate") => Math.max(0, ...rows.map((row) => row[name]));
    const columns = {
      views: largest("views"),
      bookings: largest("bookings"),
      conversionRate: largest("conversionRate"),
    };
    assert.deepEqual(most, columns);
    if (dimension !== "source") continue;
    const page = await readBreakdown(db, selection, { dimension, part: { ...PART, limit: 1 } });
    assert.deepEqual({ count: page.count, most: page.most }, { count, most }, "a page has the scale of the whole list");
  }
  const { services, ...times } = await readTimes(db, selection);
  const { viewsByHour, bookingsByHour, leadTimes } = byHand;
  assert.deepEqual(times, { views: viewsByHour, bookings: bookingsByHour, leadTimes });
  assert.deepEqual([services.rows.length, services.count], [byHand.lists.service.length, byHand.lists.service.length]);
  for (const dimension of ["device", "channel", "widget"] as const) {
    const groups = await readSplit(db, selection, { dimension, groupsMax: 9 });
    for (const { key, funnel } of groups)
      assert.deepEqual(
        FUNNEL_STEPS.map((step) => funnel[step]),
        byHand.reachedBy(dimension, key),
      );
    assert.equal(groups.length, byHand.lists[dimension].filter(({ views }) => views > 0).length);
  }
}

const OPPOSITES = [
  { dimension: "service", keys: ["Check-up"] },
  { dimension: "service", keys: ["Zahnreinigung 🦷", NOT_SET] },
  { dimension: "leadTime", keys: ["0", "4-7"] },
  { dimension: "weekday", keys: ["monday", "sunday"] },
  { dimension: "country", keys: ["DE"] },
] as const satisfies readonly Pick<Filter, "dimension" | "keys">[];

/** Each booking has one key of each kind, so those with some keys and those without them are all bookings together. */
async function compareOpposites(owner: OrganizationId, { filters, early }: Scenario): Promise<void> {
  const { dimension, keys } = OPPOSITES[early % OPPOSITES.length] ?? OPPOSITES[0];
  const reader = await findReader(db, owner);
  const others = toQuery(filters.filter((filter) => filter.dimension !== dimension));
  const count = async (query: Record<string, string[]>) => {
    const selection = await readSelection(reading, reader, { ...others, ...query, days: "45" });
    const { bookings, leadTimes } = await readTimes(db, selection);
    return [...bookings.flat(), ...leadTimes];
  };
  const [all, chosen, left] = [
    await count({}),
    await count({ [dimension]: [...keys] }),
    await count({ [toNegatedName(dimension)]: [...keys] }),
  ];
  assert.deepEqual(
    chosen.map((bookings, i) => bookings + (left[i] ?? 0)),
    all,
  );
}

function scenarios(widgets: readonly WidgetId[]): fc.Arbitrary<Scenario> {
  return fc.record({
    zone: fc.constantFrom(...ZONES),
    hits: hitsOfVisits({ widgets, from: FIRST, to: NOW }, 20),
    early: fc.nat(60),
    packs: fc.constantFrom("never", "between", "between", "meanwhile", "after"),
    days: fc.constantFrom(1, 2, 3, 9, 17, 45),
    endsDaysAgo: fc.constantFrom(0, 0, 1, 9, 10),
    match: fc.constantFrom(...MATCHES),
    filters: fc.uniqueArray(oneFilter(widgets), {
      maxLength: 3,
      selector: ({ dimension, isNegated }) => `${dimension} ${isNegated}`,
    }),
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
