import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { makeOrganization, makeWidget, NOON, ownerOf } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { assertCounted, readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import { visitId } from "../../../../test/support/funnel/hits.ts";
import type { TextLine } from "../../lib/text/text-lines.ts";
import { deleteExpiredVisits } from "../delete-visits.ts";
import { updateProgress } from "../packs/pack-queries.ts";
import { packVisits } from "../packs/pack-visits.ts";
import type { Hit } from "../record/hit.ts";
import { recordHits } from "../record/record.ts";
import { type EventImport, importEvents } from "./import-events.ts";
import { EventParser } from "./parse-import-event.ts";

const { db } = await createTestDatabase();

type Line = Record<string, unknown> | string;

const BLOCK_LINES = 7;

async function makeOwner(): Promise<{ owner: OrganizationId; widgetId: WidgetId }> {
  const owner = await makeOrganization(db, { timeZone: "Europe/Berlin" });
  return { owner, widgetId: await makeWidget(db, owner) };
}

function makeLine(widgetId: WidgetId, visit: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { widgetId, visitId: visitId(visit), step: "widget_viewed", at: "2026-10-01T09:30:00.000Z", ...fields };
}

const toText = (line: Line) => (typeof line === "string" ? line : JSON.stringify(line));

/** In blocks of a few lines, as from a file. */
async function* toLines(lines: readonly Line[]): AsyncGenerator<readonly TextLine[]> {
  for (let first = 0; first < lines.length; first += BLOCK_LINES)
    yield lines.slice(first, first + BLOCK_LINES).map((line) => ({ text: toText(line) }));
}

async function importLines(
  owner: OrganizationId,
  lines: readonly Line[],
  progress: Parameters<typeof importEvents>[2]["progress"] = () => {},
): Promise<EventImport> {
  return await importEvents(db, owner, { read: () => toLines(lines), now: NOON, progress });
}

function toHit(line: Line): Hit {
  const parsed = new EventParser().parse(toText(line), {
    owner: ownerOf((typeof line === "string" ? "" : line["widgetId"]) as WidgetId),
    now: NOON,
  });
  assert.ok("hit" in parsed);
  return parsed.hit;
}

async function readAll(owner: OrganizationId): Promise<unknown[]> {
  const tables = ["funnel_visits", "funnel_keys", "visit_progress"];
  const contents: unknown[] = [];
  for (const table of tables) {
    const { rows } = await sql`
      select to_jsonb(found) as row from ${sql.table(table)} found where organization_id = ${owner}
      order by to_jsonb(found)::text`.execute(db);
    contents.push(rows);
  }
  return contents;
}

/** A few visits a day over `days` days; every fourth one books. */
function makeHistory(widgetId: WidgetId, { visits, days }: { visits: number; days: number }): Line[] {
  return Array.from({ length: visits }, (_, visit) => {
    const startMs = NOON.getTime() - ((visit * 7919) % (days * 1440)) * MINUTE_MS - HOUR_MS;
    const steps = visit % 4 === 0 ? ["widget_viewed", "form_started", "booking_completed"] : ["widget_viewed"];
    return steps.map((step, minute) =>
      makeLine(widgetId, visit, {
        step,
        at: new Date(startMs + minute * MINUTE_MS).toISOString(),
        source: `source-${visit % 7}`,
        medium: "referral",
        campaign: `campaign-${visit % 11}`,
        ...(step === "booking_completed" ? { start: new Date(startMs + DAY_MS).toISOString() } : {}),
      }),
    );
  }).flat();
}

test("a file is counted by its own times, even on packed days, and importing it twice counts once", async () => {
  const { owner, widgetId } = await makeOwner();
  const lines = makeHistory(widgetId, { visits: 900, days: 400 });
  const live = makeLine(widgetId, 10_000, { at: "2026-10-31T09:30:00.000Z" });
  await importLines(owner, [live]);
  await packVisits(db, owner, { now: NOON });
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: lines.length, skipped: 0 });
  const windows = [1, 30, 365, 730].map((days) => ({ days, now: NOON }));
  const expected = { hits: [live, ...lines].map(toHit), zone: "Europe/Berlin", widgets: [widgetId], windows };
  await assertCounted(db, owner, { ...expected, when: "imported" });
  await packVisits(db, owner, { now: NOON });
  await assertCounted(db, owner, { ...expected, when: "packed" });

  const before = await readAll(owner);
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 0, skipped: lines.length });
  assert.deepEqual(await importLines(owner, lines.toReversed()), {
    kind: "imported",
    imported: 0,
    skipped: lines.length,
  });
  assert.deepEqual(await readAll(owner), before, "not a byte has changed");
});

/** An organization as retention leaves it after deleting all its days, and the file that brings them back. Its visits still exist. */
async function makeHiddenHistory(): Promise<{ owner: OrganizationId; lines: Line[] }> {
  const { owner, widgetId } = await makeOwner();
  const lines = makeHistory(widgetId, { visits: 60, days: 300 });
  await importLines(owner, lines);
  await packVisits(db, owner, { now: NOON });
  await updateProgress(db, owner, { kept_since: new Date(NOON.getTime() + DAY_MS) });
  assert.equal(await countViews(owner), 0);
  return { owner, lines };
}

async function countViews(owner: OrganizationId): Promise<number> {
  return (await readAnalytics(db, owner, { days: 365, now: NOON })).totals.views;
}

test("history deleted under a smaller plan is shown again once it is imported", async () => {
  const { owner, lines } = await makeHiddenHistory();
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 0, skipped: lines.length });
  assert.equal(await countViews(owner), 60);
});

test("days whose visits were deleted count once after their events are imported again", async () => {
  const { owner, widgetId } = await makeOwner();
  const lines = Array.from({ length: 31 }, (_, visit) =>
    makeLine(widgetId, visit, { at: new Date(NOON.getTime() - (visit + 10) * DAY_MS).toISOString() }),
  );
  await importLines(owner, lines);
  await packVisits(db, owner, { now: NOON });
  // In the middle of a span of 30 days.
  const batch = { keptSince: new Date(NOON.getTime() - 27 * DAY_MS), limit: 1_000 };
  assert.equal(await deleteExpiredVisits(db, owner, batch), 12);

  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 12, skipped: 19 });
  const windows = [20, 30, 33, 36, 39, 45, 730].map((days) => ({ days, now: NOON }));
  const expected = { hits: lines.map(toHit), zone: "Europe/Berlin", widgets: [widgetId], windows };
  await assertCounted(db, owner, { ...expected, when: "imported again" });
  await packVisits(db, owner, { now: NOON });
  await assertCounted(db, owner, { ...expected, when: "packed again" });
});

test("duplicates in a file count once, and the first line wins", async () => {
  const { owner, widgetId } = await makeOwner();
  const booking = { step: "booking_completed", start: "2026-10-02T09:30:00Z" };
  const lines = [
    makeLine(widgetId, 1, { ...booking, source: "google" }),
    makeLine(widgetId, 1, { ...booking, source: "google" }),
    makeLine(widgetId, 1, { ...booking, source: "bing", start: "2026-10-09T09:30:00Z", at: "2026-10-01T11:30+02:00" }),
    makeLine(widgetId, 1, { ...booking, source: "google", at: "2026-10-01T09:31:00Z" }),
  ];
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 2, skipped: 2 });
  const { totals, sources } = await readAnalytics(db, owner, { days: 40, now: NOON });
  assert.deepEqual([totals.views, totals.bookings, totals.avgLeadDays], [1, 2, 1]);
  assert.deepEqual(
    sources.map(({ key }) => key),
    ["google / (not set)"],
  );
});

test("paused widgets are imported, and blank lines and unknown fields are ignored", async () => {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner, { status: "paused", collectData: false });
  const lines = ["", makeLine(widgetId, 1, { note: "x" }), "  ", makeLine(widgetId, 2), ""];
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 2, skipped: 0 });
  assert.equal((await readAnalytics(db, owner, { days: 40, now: NOON })).totals.views, 2);
});

test("every step can be imported", async () => {
  const { owner, widgetId } = await makeOwner();
  const lines = STEPS.map((step, visit) => makeLine(widgetId, visit, { step }));
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 8, skipped: 0 });
  const { totals, funnel } = await readAnalytics(db, owner, { days: 40, now: NOON });
  assert.deepEqual([totals.bookings, totals.failed, totals.noAvailability], [1, 1, 1]);
  assert.deepEqual(Object.values(funnel), [8, 6, 5, 4, 3, 1]);
});

test("the view of a visit whose later steps were imported before is a new event", async () => {
  const { owner, widgetId } = await makeOwner();
  await importLines(owner, [makeLine(widgetId, 1, { step: "service_selected" })]);
  const view = [makeLine(widgetId, 1, { at: "2026-10-01T09:31:00.000Z" })];
  assert.deepEqual(await importLines(owner, view), { kind: "imported", imported: 1, skipped: 0 });
  assert.deepEqual(await importLines(owner, view), { kind: "imported", imported: 0, skipped: 1 });
});

describe("a bad line is named, and nothing in the file is recorded", () => {
  const faults: [what: string, make: (widgets: { mine: WidgetId; foreign: WidgetId }) => Line, fault: string][] = [
    ["JSON", () => "{", "it is not valid JSON"],
    ["a member", ({ mine }) => makeLine(mine, 1, { visitId: "1" }), "visitId is not a UUID"],
    ["a date", ({ mine }) => makeLine(mine, 1, { at: "2026-11-01T12:00:00.001Z" }), "at is in the future"],
    ["a null character", ({ mine }) => makeLine(mine, 1, { campaign: "\u0000" }), "it contains a null character (\\u0000)"],
    ["another organization's widget", ({ foreign }) => makeLine(foreign, 1), "widgetId is not a widget of this organization"],
    ["a widget that does not exist", () => makeLine("w_zzzzzzzzzzzz" as WidgetId, 1), "widgetId is not a widget of this organization"],
  ]; // biome-ignore format: one case a line
  for (const [what, make, fault] of faults) {
    test(what, async () => {
      const { owner, widgetId: mine } = await makeOwner();
      const { owner: stranger, widgetId: foreign } = await makeOwner();
      const before = [await readAll(owner), await readAll(stranger)];
      const good = Array.from({ length: 1200 }, (_, visit) => makeLine(mine, visit));
      const lines = [...good, "", make({ mine, foreign }), "also wrong"];
      assert.deepEqual(await importLines(owner, lines), { kind: "refused", line: 1202, fault });
      assert.deepEqual([await readAll(owner), await readAll(stranger)], before);
    });
  }

  test("for an unreadable line", async () => {
    const { owner, widgetId } = await makeOwner();
    const read = async function* (): AsyncGenerator<readonly TextLine[]> {
      yield [{ text: toText(makeLine(widgetId, 1)) }, { fault: "it is not valid UTF-8" }];
    };
    const result = await importEvents(db, owner, { read, now: NOON, progress: () => {} });
    assert.deepEqual(result, { kind: "refused", line: 2, fault: "it is not valid UTF-8" });
  });
});

describe("a file that changes between the two readings", () => {
  async function importChanging(first: number, second: (lines: Line[]) => Line[]): Promise<EventImport> {
    const { owner, widgetId } = await makeOwner();
    const lines = Array.from({ length: first }, (_, visit) => makeLine(widgetId, visit));
    const readings = [lines, second(lines)];
    return await importEvents(db, owner, {
      read: () => toLines(readings.shift() ?? []),
      now: NOON,
      progress: () => {},
    });
  }

  test("is refused if it was cut off or has other content", async () => {
    assert.deepEqual(await importChanging(5, (lines) => lines.slice(0, 3)), { kind: "changed", line: 3 });
    assert.deepEqual(await importChanging(5, (lines) => lines.with(4, "{")), { kind: "changed", line: 5 });
    assert.deepEqual(await importChanging(5, () => []), { kind: "changed", line: 0 });
  });

  test("is imported up to the checked length if it has grown", async () => {
    const grown = await importChanging(3, (lines) => [...lines, "{"]);
    assert.deepEqual(grown, { kind: "imported", imported: 3, skipped: 0 });
  });
});

test("a file whose import was interrupted is imported completely the next time", async () => {
  const { owner, widgetId } = await makeOwner();
  const lines = makeHistory(widgetId, { visits: 3_000, days: 100 });
  const cutOff = importLines(owner, lines, (stage) => {
    if (stage === "recorded") throw new Error("killed");
  });
  await assert.rejects(cutOff, { message: "killed" });
  assert.deepEqual(await importLines(owner, lines), {
    kind: "imported",
    imported: lines.length - 2_000,
    skipped: 2_000,
  });
  const windows = [{ days: 200, now: NOON }];
  const expected = { hits: lines.map(toHit), zone: "Europe/Berlin", widgets: [widgetId], windows };
  await assertCounted(db, owner, { ...expected, when: "imported to its end" });
});

test("events recorded live during an import are counted too", async () => {
  const { owner, widgetId } = await makeOwner();
  const lines = makeHistory(widgetId, { visits: 1500, days: 2 });
  const live = Array.from({ length: 60 }, (_, index) =>
    toHit(makeLine(widgetId, 100_000 + index, { at: new Date(NOON.getTime() - index * MINUTE_MS).toISOString() })),
  );
  const waiting = live.values();
  const recordWaiting = async () => {
    for (const hit of waiting) await recordHits(db, [hit]);
  };
  // Few at once, as the writer does.
  const [result] = await Promise.all([importLines(owner, lines), ...Array.from({ length: 3 }, recordWaiting)]);
  assert.deepEqual(result, { kind: "imported", imported: lines.length, skipped: 0 });
  const hits = [...lines.map(toHit), ...live];
  const windows = [{ days: 4, now: NOON }];
  await assertCounted(db, owner, { hits, zone: "Europe/Berlin", widgets: [widgetId], windows, when: "both" });
});

test("a day takes 1,000 sources, 1,000 campaigns and 1,000 pages; the rest is (other), the same each time", async () => {
  const { owner, widgetId } = await makeOwner();
  const flood = Array.from({ length: 1_200 }, (_, visit) =>
    makeLine(widgetId, visit, {
      source: `s${visit}`,
      medium: "referral",
      campaign: `c${visit}`,
      page: `https://a.example/p${visit}`,
    }),
  );
  const nextDay = flood
    .slice(0, 10)
    .map((line, visit) => ({ ...line, visitId: visitId(5_000 + visit), at: "2026-10-02T09:30Z" }));
  const lines = [makeLine(widgetId, 9_999), ...flood, ...nextDay];
  const imported = lines.length;
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported, skipped: 0 });
  const countKeys = (kind: "source" | "campaign" | "page") => sql`
    select (started_at at time zone 'UTC')::date as day, count(distinct key) as keys,
      count(*) filter (where key like '(other)%')::integer as other
    from funnel_visits visit join funnel_keys named on named.organization_id = visit.organization_id and named.id = ${sql.ref(kind)}
    where visit.organization_id = ${owner} group by day order by day`;
  for (const kind of ["source", "campaign", "page"] as const)
    assert.deepEqual((await countKeys(kind).execute(db)).rows, [
      // Plus (other), and untagged traffic, which nobody can make up.
      { day: "2026-10-01", keys: 1_002, other: 200 },
      { day: "2026-10-02", keys: 10, other: 0 },
    ]);
  const { channels } = await readAnalytics(db, owner, { days: 40, now: NOON });
  assert.deepEqual(
    channels.map(({ key, views }) => [key, views]),
    [
      ["Referral", 1_210],
      ["Direct", 1],
    ],
  );
  const before = await readAll(owner);
  assert.deepEqual(await importLines(owner, lines), { kind: "imported", imported: 0, skipped: imported });
  assert.deepEqual(await readAll(owner), before);
});

test("progress is reported for both readings", async () => {
  const { owner, widgetId } = await makeOwner();
  const lines = Array.from({ length: 4_100 }, (_, visit) => makeLine(widgetId, visit));
  const told: Record<string, number[]> = { checked: [], recorded: [] };
  await importLines(owner, lines, (stage, line) => told[stage]?.push(line));
  assert.equal(told["checked"]?.at(-1), 4_100);
  assert.deepEqual(told["recorded"], [2_000, 4_000, 4_100]);
});
