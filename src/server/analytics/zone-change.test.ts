import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { DIMENSIONS } from "#contract/dimensions.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { assertCounted } from "../../../test/support/funnel/analytics.ts";
import { sampleTouches, touchesOfVisits } from "../../../test/support/funnel/random-touches.ts";
import { makeTouch } from "../../../test/support/funnel/touches.ts";
import { packDays } from "../funnel/packs/pack-days.ts";
import { recordTouches } from "../funnel/record/record.ts";
import type { Touch } from "../funnel/record/touch.ts";
import { rebuildStats } from "../funnel/recount/rebuild.ts";
import { sealSpans } from "../funnel/recount/seal-spans.ts";
import { readZoneRules } from "../lib/time/zone-rules.ts";
import { updateOrganization } from "../organizations/queries.ts";
import { saveZoneOffsets } from "../organizations/zone-offsets.ts";
import { readQuestion, readReport } from "./app-report.ts";
import { readBreakdown } from "./breakdown/breakdown.ts";
import { selectAnalytics, selectDays, selectReport } from "./queries.ts";

// An organization's reports are in its new time zone from the moment of the change, and exact at every moment: before, during and
// after the recount, whether it ends or is cut off, and whatever is recorded, packed or changed again meanwhile.

const { db } = await createTestDatabase();

// Days are furthest apart between Kiritimati and Midway; clocks go back around midnight in Beirut.
const ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Kiritimati", "Pacific/Midway", "Asia/Beirut"];
const FIRST = new Date("2026-08-20T00:00:00.000Z");
const NOW = new Date("2026-11-03T10:15:00.000Z");
const deps = { db, clock: { now: () => NOW } };
const WINDOWS = [2, 76].map((days) => ({ days, now: NOW }));
const RUNS = 15;
const TIME_LIMIT_MS = 60_000;
const PART = { search: null, sort: "bookings", isAscending: false, after: null, offset: 0, limit: 1_000 } as const;

type Step =
  | { kind: "record"; visits: number }
  | { kind: "change"; zone: string }
  | { kind: "pack" }
  | { kind: "seal" }
  | { kind: "recount"; meanwhile: readonly Step[]; isCutOff: boolean };

test("at every moment, reports match a count by hand in the zone of the last change", async () => {
  const owner = await makeOrganization(db);
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  const touchesToCome = touchesOfVisits({ widgets, from: FIRST, to: NOW }, 16);
  const scenarios = fc.record({ touches: touchesToCome, steps: fc.array(steps(), { minLength: 2, maxLength: 7 }) });
  await fc.assert(
    fc.asyncProperty(scenarios, async ({ touches, steps: script }) => {
      await startOver(owner);
      const business = new Business(owner, { widgets, touches });
      for (const step of script) {
        await business.take(step);
        await business.assertExact(step.kind);
      }
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: TIME_LIMIT_MS },
  );
});

class Business {
  readonly #owner: OrganizationId;
  readonly #widgets: readonly WidgetId[];
  readonly #touches: readonly Touch[];
  #recorded = 0;
  #zone = "UTC";

  constructor(
    owner: OrganizationId,
    { widgets, touches }: { widgets: readonly WidgetId[]; touches: readonly Touch[] },
  ) {
    this.#owner = owner;
    this.#widgets = widgets;
    this.#touches = touches;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "record": {
        const some = this.#touches.slice(this.#recorded, this.#recorded + step.visits);
        if (some.length > 0) await recordTouches(db, some);
        this.#recorded += some.length;
        return;
      }
      case "change":
        await updateOrganization(db, this.#owner, { time_zone: step.zone });
        this.#zone = step.zone;
        return;
      case "pack":
        return await packDays(db, this.#owner, { now: NOW });
      case "seal":
        return await sealSpans(db, this.#owner, NOW);
      case "recount":
        return await this.#recount(step);
      default:
        step satisfies never;
    }
  }

  async #recount({ meanwhile, isCutOff }: Extract<Step, { kind: "recount" }>): Promise<void> {
    const left = [...meanwhile];
    const stopping = new AbortController();
    // Parts are counted by two connections, which wait for each other here.
    let turn = Promise.resolve();
    await rebuildStats(deps, this.#owner, {
      signal: stopping.signal,
      progress: () => {
        turn = turn.then(async () => {
          for (let step = left.shift(); step; step = left.shift()) {
            await this.take(step);
            await this.assertExact(`${step.kind} during a recount`);
          }
          if (isCutOff) stopping.abort();
        });
        return turn;
      },
    });
  }

  async assertExact(when: string): Promise<void> {
    const touches = this.#touches.slice(0, this.#recorded);
    const expected = { touches, zone: this.#zone, widgets: this.#widgets, windows: WINDOWS, when };
    await assertCounted(db, this.#owner, expected);
  }
}

function steps(): fc.Arbitrary<Step> {
  const simple: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("record" as const), visits: fc.integer({ min: 1, max: 15 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("change" as const), zone: fc.constantFrom(...ZONES) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("pack" as const, "seal" as const) }) },
  );
  const recount: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant("recount" as const),
    meanwhile: fc.array(simple, { maxLength: 3 }),
    isCutOff: fc.boolean(),
  });
  return fc.oneof({ weight: 2, arbitrary: simple }, { weight: 1, arbitrary: recount });
}

test("everything in the dashboard is the same from visits, before the recount, and from counters, after it", async () => {
  const owner = await makeOrganization(db, { timeZone: "Pacific/Kiritimati" });
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  await recordTouches(db, sampleTouches({ widgets, from: FIRST, to: NOW }, { visits: 400, seed: 11 }));
  for (const [widget, hour] of [
    [0, "2026-10-31T09:00Z"],
    [0, "2026-10-31T10:00Z"],
    [1, "2026-11-03T10:00Z"],
  ] as const)
    await sql`insert into funnel_drops (organization_id, widget_id, hour, events)
      values (${owner}, ${widgets[widget]}, ${hour}::timestamptz, 7)`.execute(db);
  await packDays(db, owner, { now: NOW });
  const reader = { organizationId: owner, plan: "business" } as const;
  const queries = [
    ...[{ days: "1" }, { days: "2" }, { days: "30" }, { days: "730" }, { period: "last-month", compare: "year" }],
    ...[
      { from: "2026-10-31", to: "2026-10-31" },
      { widget: widgets[1] as string, days: "60" },
    ],
    { days: "30", compare: "custom", compareFrom: "2026-09-01", compareTo: "2026-12-31" },
  ];
  const readAll = async () => {
    const answers: unknown[] = [];
    for (const query of queries) {
      answers.push(await readReport(deps, reader, query));
      const question = await readQuestion(deps, reader, query);
      for (const dimension of DIMENSIONS) answers.push(await readBreakdown(db, question, { dimension, part: PART }));
    }
    return answers;
  };
  const before = await readAll();
  await updateOrganization(db, owner, { time_zone: "Pacific/Midway" });
  const fromVisits = await readAll();
  assert.notDeepEqual(fromVisits, before);
  await rebuildStats(deps, owner);
  assert.deepEqual(await readAll(), fromVisits);
});

test("a report is in one zone as a whole, also if another zone is counted meanwhile", async () => {
  const owner = await makeOrganization(db, { timeZone: "UTC" });
  const widgetId = await makeWidget(db, owner);
  await recordTouches(db, sampleTouches({ widgets: [widgetId], from: FIRST, to: NOW }, { visits: 60, seed: 12 }));
  const reader = { organizationId: owner, plan: "business" } as const;
  const question = await readQuestion(deps, reader, { days: "40" });
  const read = () => readBreakdown(db, question, { dimension: "source", part: PART });
  const before = await read();
  await updateOrganization(db, owner, { time_zone: "Pacific/Kiritimati" });
  await rebuildStats(deps, owner);
  assert.deepEqual(await read(), before);
  assert.equal((await readQuestion(deps, reader, { days: "40" })).timeZone, "Pacific/Kiritimati");
});

test("counters have no answer for another zone than theirs", async () => {
  const owner = await makeOrganization(db, { timeZone: "UTC" });
  const window = { days: 30, now: NOW, keptSince: new Date(0), widgetId: null };
  assert.equal((await selectAnalytics(db, owner, window))?.zone, "UTC");
  assert.equal((await selectDays(db, owner, { ...window, zone: "UTC" }))?.zone, "UTC");
  assert.equal(await selectDays(db, owner, { ...window, zone: "Asia/Tokyo" }), null);
  assert.equal(await selectReport(db, owner, { ...window, zone: "Asia/Tokyo", rowsMax: 25 }), null);
  await updateOrganization(db, owner, { time_zone: "Asia/Tokyo" });
  assert.equal(await selectAnalytics(db, owner, window), null);
  await updateOrganization(db, owner, { time_zone: null });
  assert.equal((await selectAnalytics(db, owner, window))?.zone, "UTC", "no zone is UTC");
});

test("retention and the days of the plan hold in the new zone too", async () => {
  const owner = await makeOrganization(db, { timeZone: "UTC" });
  const widgetId = await makeWidget(db, owner);
  // 30 days before NOW it was 10:15 in UTC, and 3 October; in Kiritimati it was 5 October, 00:15.
  const instants = ["2026-10-04T09:59:59.999Z", "2026-10-04T10:00:00.000Z", "2026-10-04T10:15:00.000Z"];
  await recordTouches(
    db,
    instants.map((at, visit) => makeTouch({ widgetId, visit, at })),
  );
  const readDays = async () => {
    const { daily, dataSince } = await readReport(deps, { organizationId: owner, plan: "free" }, { days: "60" });
    return [dataSince, ...daily.filter(({ views }) => views > 0).map(({ day, views }) => `${day} ${views}`)];
  };
  assert.deepEqual(await readDays(), ["2026-10-04", "2026-10-04 3"]);
  await updateOrganization(db, owner, { time_zone: "Pacific/Kiritimati" });
  assert.deepEqual(await readDays(), ["2026-10-05", "2026-10-05 2"]);
  await sql`update day_zones set kept_since = '2026-10-06T00:00:00Z' where organization_id = ${owner}`.execute(db);
  assert.deepEqual(await readDays(), [null]);
});

test("visits are counted by the rules of the counters, also if this runtime has others for the zone", async () => {
  const owner = await makeOrganization(db, { timeZone: "America/Edmonton" });
  const widgetId = await makeWidget(db, owner);
  // As a runtime before 2026 would have counted: clocks go back on the first Sunday in November.
  const rules = { ...readZoneRules("America/Denver"), id: "America/Edmonton before" };
  await saveZoneOffsets(db, rules);
  await db
    .updateTable("day_zones")
    .set({ rules: rules.id, rules_release: "2025b" })
    .where("organization_id", "=", owner)
    .execute();
  await recordTouches(db, [makeTouch({ widgetId, visit: 1, at: "2026-11-03T06:30:00Z" })]);
  const reader = { organizationId: owner, plan: "business" } as const;
  for (const query of [{ days: "3" }, { days: "3", notDevice: "tablet" }]) {
    const { daily, now } = await readReport(deps, reader, query);
    assert.deepEqual([now, ...daily.map(({ views }) => views)], ["2026-11-03T03:15", 0, 1, 0]);
  }
});

/** As if nothing had ever been recorded, in UTC. */
async function startOver(owner: OrganizationId): Promise<void> {
  await updateOrganization(db, owner, { time_zone: "UTC" });
  const rules = readZoneRules("UTC");
  await saveZoneOffsets(db, rules);
  await db
    .updateTable("day_zones")
    .set({ zone: "UTC", rules: rules.id, version: 1, spans_sealed_before: "1970-01-01", building_version: null })
    .set({ building_rules: null, packed_from: null, packed_before: null })
    .where("organization_id", "=", owner)
    .execute();
  for (const table of [
    "funnel_keys",
    "funnel_visits",
    "funnel_days",
    "funnel_key_days",
    "funnel_key_spans",
    "visit_packs",
  ])
    await sql`delete from ${sql.table(table)} where organization_id = ${owner}`.execute(db);
}
