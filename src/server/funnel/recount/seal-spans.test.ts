import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import { makeTouch } from "../../../../test/support/funnel/touches.ts";
import { createLog } from "../../lib/log/log.ts";
import { recordTouches } from "../record/record.ts";
import { sealOutdated } from "./seal-spans.ts";

// Spans of 5 days start on 24 and 29 September, 4, 9, 14, 19, 24 and 29 October, 3, 8 and 13 November 2026; spans of 10 days on
// 24 September, 4, 14 and 24 October, 3 and 13 November; spans of 60 days on 6 July, 4 September and 3 November.

const { db } = await createTestDatabase();

async function runTask(now: string, signal = new AbortController().signal): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => lines.push(line) });
  await sealOutdated({ db, log, clock: { now: () => new Date(now) } }, signal);
  return lines;
}

async function makeVisited(timeZone: string, days: readonly string[]) {
  const owner = await makeOrganization(db, { timeZone });
  const widgetId = await makeWidget(db, owner);
  const visit = async (...more: string[]) => {
    const touches = more.map((day) =>
      makeTouch({ widgetId, visit: Number(day.replaceAll("-", "")), at: `${day}T06:00Z` }),
    );
    await recordTouches(db, touches);
  };
  await visit(...days);
  return { owner, widgetId, visit };
}

async function readSealedBefore(...owners: OrganizationId[]): Promise<(string | undefined)[]> {
  const rows = await db.selectFrom("day_zones").select(["organization_id", "spans_sealed_before"]).execute();
  return owners.map((owner) => rows.find((row) => row.organization_id === owner)?.spans_sealed_before);
}

/** "days from first day: views" by channel, of all widgets together or of one. */
async function readSpans(owner: OrganizationId, widgetId = ""): Promise<string[]> {
  const { rows } = await sql<{ span: string }>`
    select span_days || ' from ' || start_day || ': ' || views as span from funnel_key_spans
    where organization_id = ${owner} and widget_id = ${widgetId} and kind = 1 order by span_days, start_day`.execute(
    db,
  );
  return rows.map(({ span }) => span);
}

test("a span is sealed when it is over in the organization's time zone", async () => {
  const days = ["2026-07-09", "2026-07-10", "2026-09-30", "2026-10-01", "2026-10-26", "2026-11-02", "2026-11-09"];
  const { owner: utc } = await makeVisited("UTC", days);
  const { owner: auckland } = await makeVisited("Pacific/Auckland", days);
  const spans = [
    "5 from 2026-07-06: 2",
    "5 from 2026-09-29: 2",
    "5 from 2026-10-24: 1",
    "5 from 2026-10-29: 1",
    "10 from 2026-07-06: 2",
    "10 from 2026-09-24: 2",
    "10 from 2026-10-24: 2",
    "60 from 2026-07-06: 2",
    "60 from 2026-09-04: 4",
  ];
  await runTask("2026-11-12T23:59:00Z");
  assert.deepEqual(await readSealedBefore(utc, auckland), ["2026-11-08", "2026-11-13"]);
  assert.deepEqual(await readSpans(utc), spans);
  const five = "5 from 2026-11-08: 1";
  const ten = "10 from 2026-11-03: 1";
  assert.deepEqual(await readSpans(auckland), [
    ...spans.slice(0, 4),
    five,
    ...spans.slice(4, 7),
    ten,
    ...spans.slice(7),
  ]);

  await runTask("2026-11-13T00:00:00Z");
  assert.deepEqual(await readSealedBefore(utc, auckland), ["2026-11-13", "2026-11-13"]);
  assert.deepEqual(await readSpans(utc), await readSpans(auckland));
});

test("late events are added to the spans and the day, even where there were none", async () => {
  const { owner, widgetId, visit } = await makeVisited("UTC", ["2026-09-30"]);
  await runTask("2026-11-05T00:00:00Z");
  // 2 November is the last sealed day.
  await visit("2026-09-24", "2026-10-09", "2026-10-10", "2026-11-02", "2026-11-04");
  const fives = ["5 from 2026-09-24: 1", "5 from 2026-09-29: 1", "5 from 2026-10-09: 2", "5 from 2026-10-29: 1"];
  const tens = ["10 from 2026-09-24: 2", "10 from 2026-10-04: 2", "10 from 2026-10-24: 1"];
  const sixties = ["60 from 2026-09-04: 5"];
  assert.deepEqual(await readSpans(owner), [...fives, ...tens, ...sixties]);
  await runTask("2027-01-05T00:00:00Z");
  const withLast = [fives, tens, sixties].flatMap((spans, i) => [...spans, `${[5, 10, 60][i]} from 2026-11-03: 1`]);
  assert.deepEqual(await readSpans(owner), withLast);
  const ofWidget = withLast.filter((span) => !span.startsWith("5 "));
  assert.deepEqual(await readSpans(owner, widgetId), ofWidget, "a single widget has no spans of five days");
  const { totals, channels } = await readAnalytics(db, owner, { days: 300, now: new Date("2027-01-05T00:00:00Z") });
  assert.deepEqual([totals.views, channels.map(({ views }) => views)], [6, [6]]);
});

test("an organization that fails is logged and does not hold up the others; a stopping worker starts none", async () => {
  const days = ["2026-06-30", "2026-09-30"];
  const made = [await makeVisited("UTC", days), await makeVisited("UTC", days)];
  const [broken, sound] = made.map(({ owner }) => owner).sort() as [OrganizationId, OrganizationId];
  await runTask("2027-03-05T00:00:00Z", AbortSignal.abort());
  assert.deepEqual(await readSealedBefore(broken, sound), ["1970-01-01", "1970-01-01"]);

  // Too many views for one span.
  await sql`
    insert into funnel_key_days (organization_id, version, widget_id, day, kind, key, views, bookings)
    values (${broken}, 1, 'w_', '2026-09-30', 1, 5, 2147483647, 0),
      (${broken}, 1, 'w_', '2026-10-01', 1, 5, 1, 0)`.execute(db);
  const lines = (await runTask("2027-03-05T00:00:00Z")).map(
    (line) => JSON.parse(line) as { name: string; organizationId: string },
  );
  assert.deepEqual(
    lines.map(({ name, organizationId }) => [name, organizationId]),
    [["stats.seal_failed", broken]],
  );
  // Steps before the failing one stay: each ends with a span of 60 days.
  assert.deepEqual(await readSealedBefore(broken, sound), ["2026-07-06", "2027-03-03"]);
});
