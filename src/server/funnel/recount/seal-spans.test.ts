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

// Spans of 8 days start on 24 September, 2, 10, 18 and 26 October, 3 and 11 November 2026; spans of 64 days on 4 June, 7 August
// and 10 October.

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
  return { owner, visit };
}

async function readSealedBefore(...owners: OrganizationId[]): Promise<(string | undefined)[]> {
  const rows = await db.selectFrom("day_zones").select(["organization_id", "sealed_before"]).execute();
  return owners.map((owner) => rows.find((row) => row.organization_id === owner)?.sealed_before);
}

/** "days from first day: views" of all widgets' sums, by channel. */
async function readSpans(owner: OrganizationId): Promise<string[]> {
  const { rows } = await sql<{ span: string }>`
    select span_days || ' from ' || start_day || ': ' || views as span from funnel_key_spans
    where organization_id = ${owner} and widget_id = '' and kind = 1 order by span_days, start_day`.execute(db);
  return rows.map(({ span }) => span);
}

test("a span is sealed when it is over in the organization's time zone", async () => {
  const days = ["2026-07-10", "2026-07-11", "2026-09-30", "2026-10-01", "2026-10-26", "2026-11-02", "2026-11-03"];
  const { owner: utc } = await makeVisited("UTC", days);
  const { owner: auckland } = await makeVisited("Pacific/Auckland", days);
  const spans = [
    "8 from 2026-07-06: 2",
    "8 from 2026-09-24: 2",
    "8 from 2026-10-26: 2",
    "64 from 2026-06-04: 2",
    "64 from 2026-08-07: 2",
  ];
  await runTask("2026-11-10T23:59:00Z");
  assert.deepEqual(await readSealedBefore(utc, auckland), ["2026-11-03", "2026-11-11"]);
  assert.deepEqual(await readSpans(utc), spans);
  const next = "8 from 2026-11-03: 1";
  assert.deepEqual(await readSpans(auckland), [...spans.slice(0, 3), next, ...spans.slice(3)]);

  await runTask("2026-11-11T00:00:00Z");
  assert.deepEqual(await readSealedBefore(utc, auckland), ["2026-11-11", "2026-11-11"]);
  assert.deepEqual(await readSpans(utc), await readSpans(auckland));
});

test("late events are added to the spans and the day, even where there were none", async () => {
  const { owner, visit } = await makeVisited("UTC", ["2026-09-30"]);
  await runTask("2026-11-05T00:00:00Z");
  // 2 November is the last sealed day.
  await visit("2026-09-24", "2026-10-09", "2026-10-10", "2026-11-02", "2026-11-04");
  const eights = ["8 from 2026-09-24: 2", "8 from 2026-10-02: 1", "8 from 2026-10-10: 1", "8 from 2026-10-26: 1"];
  assert.deepEqual(await readSpans(owner), [...eights, "64 from 2026-08-07: 3"]);
  await runTask("2027-01-05T00:00:00Z");
  const later = ["8 from 2026-11-03: 1", "64 from 2026-08-07: 3", "64 from 2026-10-10: 3"];
  assert.deepEqual(await readSpans(owner), [...eights, ...later]);
  const { totals, channels } = await readAnalytics(db, owner, { days: 300, now: new Date("2027-01-05T00:00:00Z") });
  assert.deepEqual([totals.views, channels.map(({ views }) => views)], [6, [6]]);
});

test("an organization that fails is logged and does not hold up the others; a stopping worker starts none", async () => {
  const made = [await makeVisited("UTC", ["2026-09-30"]), await makeVisited("UTC", ["2026-09-30"])];
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
  assert.deepEqual(await readSealedBefore(broken, sound), ["1970-01-01", "2027-03-03"]);
});
