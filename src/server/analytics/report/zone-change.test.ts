import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { DIMENSIONS } from "#contract/analytics/dimensions.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { assertCounted, findReader } from "../../../../test/support/funnel/analytics.ts";
import { makeHit } from "../../../../test/support/funnel/hits.ts";
import { hitsOfVisits, sampleHits } from "../../../../test/support/funnel/random-hits.ts";
import { startOver } from "../../../../test/support/funnel/start-over.ts";
import { updateOrganization } from "../../organizations/queries.ts";
import { updateProgress } from "../packs/pack-queries.ts";
import { packVisits, rebuildPacks } from "../packs/pack-visits.ts";
import type { Hit } from "../record/hit.ts";
import { recordHits } from "../record/record.ts";
import { readReport, readSelection } from "./app-report.ts";
import { readBreakdown } from "./breakdown/breakdown.ts";

// An organization's reports are in its new time zone from the moment of the change, and exact at every moment, whatever is
// recorded, packed or changed again meanwhile. The change itself touches nothing that is recorded or packed.

const { db } = await createTestDatabase();

// Days are furthest apart between Kiritimati and Midway; clocks go back around midnight in Beirut; Nepal is 45 minutes off.
const ZONES = [
  ...[
    "UTC",
    "Europe/Berlin",
    "America/St_Johns",
    "Pacific/Kiritimati",
    "Pacific/Midway",
    "Asia/Beirut",
    "Asia/Kathmandu",
  ],
];
const FIRST = new Date("2026-08-20T00:00:00.000Z");
const NOW = new Date("2026-11-03T10:15:00.000Z");
const deps = { db, clock: { now: () => NOW } };
const WINDOWS = [2, 76].map((days) => ({ days, now: NOW }));
const RUNS = 8;
const TIME_LIMIT_MS = 60_000;
const PART = { search: null, sort: "bookings", isAscending: false, after: null, offset: 0, limit: 1_000 } as const;

type Step =
  | { kind: "record"; visits: number }
  | { kind: "change"; zone: string }
  | { kind: "pack" }
  | { kind: "rebuild"; meanwhile: readonly Step[]; isCutOff: boolean };

test("at every moment, reports match a count by hand in the zone of the last change", async () => {
  const owner = await makeOrganization(db);
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  const hitsToCome = hitsOfVisits({ widgets, from: FIRST, to: NOW }, 16);
  const scenarios = fc.record({ hits: hitsToCome, steps: fc.array(steps(), { minLength: 2, maxLength: 7 }) });
  await fc.assert(
    fc.asyncProperty(scenarios, async ({ hits, steps: script }) => {
      await startOver(db, owner, "UTC");
      const business = new Business(owner, { widgets, hits });
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
  readonly #hits: readonly Hit[];
  #recorded = 0;
  #zone = "UTC";

  constructor(owner: OrganizationId, { widgets, hits }: { widgets: readonly WidgetId[]; hits: readonly Hit[] }) {
    this.#owner = owner;
    this.#widgets = widgets;
    this.#hits = hits;
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "record": {
        const some = this.#hits.slice(this.#recorded, this.#recorded + step.visits);
        if (some.length > 0) await recordHits(db, some);
        this.#recorded += some.length;
        return;
      }
      case "change":
        await updateOrganization(db, this.#owner, { time_zone: step.zone });
        this.#zone = step.zone;
        return;
      case "pack":
        await packVisits(db, this.#owner, { now: NOW });
        return;
      case "rebuild":
        return await this.#rebuild(step);
      default:
        step satisfies never;
    }
  }

  async #rebuild({ meanwhile, isCutOff }: Extract<Step, { kind: "rebuild" }>): Promise<void> {
    const left = [...meanwhile];
    const stopping = new AbortController();
    await rebuildPacks(db, this.#owner, {
      now: NOW,
      signal: stopping.signal,
      progress: async () => {
        for (let step = left.shift(); step; step = left.shift()) {
          await this.take(step);
          await this.assertExact(`${step.kind} during a rebuild`);
        }
        if (isCutOff) stopping.abort();
      },
    });
  }

  async assertExact(when: string): Promise<void> {
    const hits = this.#hits.slice(0, this.#recorded);
    const expected = { hits, zone: this.#zone, widgets: this.#widgets, windows: WINDOWS, when };
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
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("pack" as const) }) },
  );
  const rebuild: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant("rebuild" as const),
    meanwhile: fc.array(simple, { maxLength: 3 }),
    isCutOff: fc.boolean(),
  });
  return fc.oneof({ weight: 2, arbitrary: simple }, { weight: 1, arbitrary: rebuild });
}

test("everything in the dashboard is in the new zone at once, from the same packs, and a rebuild changes nothing", async () => {
  const owner = await makeOrganization(db, { timeZone: "Pacific/Kiritimati" });
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  await recordHits(db, sampleHits({ widgets, from: FIRST, to: NOW }, { visits: 400, seed: 11 }));
  for (const [widget, hour] of [
    [0, "2026-10-31T09:00Z"],
    [0, "2026-10-31T10:00Z"],
    [1, "2026-11-03T10:00Z"],
  ] as const)
    await sql`insert into funnel_drops (organization_id, widget_id, hour, events)
      values (${owner}, ${widgets[widget]}, ${hour}::timestamptz, 7)`.execute(db);
  await packVisits(db, owner, { now: NOW });
  const queries = [
    ...[{ days: "1" }, { days: "2" }, { days: "30" }, { days: "730" }, { period: "last-month", compare: "year" }],
    ...[
      { from: "2026-10-31", to: "2026-10-31" },
      { widget: widgets[1] as string, days: "60" },
    ],
    { days: "30", compare: "custom", compareFrom: "2026-09-01", compareTo: "2026-12-31" },
  ];
  const readAll = async () => {
    const [reader, responses] = [await findReader(db, owner), [] as unknown[]];
    for (const query of queries) {
      responses.push(await readReport(deps, reader, query));
      const selection = await readSelection(deps, reader, query);
      for (const dimension of DIMENSIONS) responses.push(await readBreakdown(db, selection, { dimension, part: PART }));
    }
    return responses;
  };
  const before = await readAll();
  const packs = await readPacks(owner);
  await updateOrganization(db, owner, { time_zone: "Pacific/Midway" });
  const after = await readAll();
  assert.notDeepEqual(after, before);
  assert.deepEqual(await readPacks(owner), packs);
  await rebuildPacks(db, owner, { now: NOW });
  assert.deepEqual(await readAll(), after);
  assert.deepEqual(await readPacks(owner), packs);
  await updateOrganization(db, owner, { time_zone: "Pacific/Kiritimati" });
  assert.deepEqual(await readAll(), before);
});

test("a report is in one zone as a whole, also if the zone changes meanwhile", async () => {
  const owner = await makeOrganization(db, { timeZone: "UTC" });
  const widgetId = await makeWidget(db, owner);
  await recordHits(db, sampleHits({ widgets: [widgetId], from: FIRST, to: NOW }, { visits: 60, seed: 12 }));
  const selection = await readSelection(deps, await findReader(db, owner), { days: "40" });
  const read = () => readBreakdown(db, selection, { dimension: "source", part: PART });
  const before = await read();
  await updateOrganization(db, owner, { time_zone: "Pacific/Kiritimati" });
  assert.deepEqual(await read(), before);
  assert.equal((await readSelection(deps, await findReader(db, owner), { days: "40" })).timeZone, "Pacific/Kiritimati");
});

test("no time zone is UTC", async () => {
  const owner = await makeOrganization(db, { timeZone: "Asia/Tokyo" });
  assert.equal((await readReport(deps, await findReader(db, owner), { days: "1" })).timeZone, "Asia/Tokyo");
  await updateOrganization(db, owner, { time_zone: null });
  assert.equal((await readReport(deps, await findReader(db, owner), { days: "1" })).timeZone, "UTC");
});

test("retention and the days of the plan hold in the new zone too", async () => {
  const owner = await makeOrganization(db, { timeZone: "UTC" });
  const widgetId = await makeWidget(db, owner);
  // 30 days before NOW it was 10:15 in UTC, and 3 October; in Kiritimati it was 5 October, 00:15.
  const instants = ["2026-10-04T09:59:59.999Z", "2026-10-04T10:00:00.000Z", "2026-10-04T10:15:00.000Z"];
  await recordHits(
    db,
    instants.map((at, visit) => makeHit({ widgetId, visit, at })),
  );
  const readDays = async () => {
    const { daily, dataSince } = await readReport(deps, await findReader(db, owner, "free"), { days: "60" });
    return [dataSince, ...daily.filter(({ views }) => views > 0).map(({ day, views }) => `${day} ${views}`)];
  };
  assert.deepEqual(await readDays(), ["2026-10-04", "2026-10-04 3"]);
  await updateOrganization(db, owner, { time_zone: "Pacific/Kiritimati" });
  assert.deepEqual(await readDays(), ["2026-10-05", "2026-10-05 2"]);
  await updateProgress(db, owner, { kept_since: new Date("2026-10-06T00:00:00Z") });
  assert.deepEqual(await readDays(), [null]);
});

async function readPacks(owner: OrganizationId): Promise<unknown[]> {
  const contents: unknown[] = [];
  for (const table of ["visit_days", "visit_packs", "visit_totals", "visit_progress"]) {
    const { rows } = await sql`
      select to_jsonb(found) as row from ${sql.table(table)} found where organization_id = ${owner}
      order by to_jsonb(found)::text`.execute(db);
    contents.push(rows);
  }
  return contents;
}
