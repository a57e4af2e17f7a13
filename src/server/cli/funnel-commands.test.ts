import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sql } from "kysely";
import type { Analytics } from "#contract/analytics/analytics.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { createCommandLine, type Outcome } from "../../../test/support/app/cli.ts";
import { getJson, makeCaller, type TestCaller } from "../../../test/support/app/read-api.ts";
import { visitId } from "../../../test/support/funnel/hits.ts";
import { packVisits } from "../analytics/packs/pack-visits.ts";

const { app, deps, url } = await createTestApp();
const { db } = deps;
const cli = createCommandLine({ DATABASE_URL: url, SECRET_KEY: "a".repeat(64) });

/** Enough for the program, but not for the lines of the largest file and what is parsed from them. */
const HEAP_MB = 80;

const said = (stdout: string, stderr = ""): Outcome => ({ code: 0, stdout: `${stdout}\n`, stderr });
const refused = (sentence: string): Outcome => ({ code: 2, stdout: "", stderr: `${sentence}\n` });

function writeLines(name: string, lines: readonly unknown[]): string {
  const path = join(cli.folder, name);
  writeFileSync(path, `${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`);
  return path;
}

async function getAnalytics(caller: TestCaller, days: number): Promise<Analytics> {
  const { body } = await getJson(app, `/api/v1/analytics?days=${days}`, caller.headers);
  return body as Analytics;
}

function makeLine({ widgetId }: TestCaller, visit: number, fields: Record<string, unknown> = {}) {
  return { widgetId, visitId: visitId(visit), step: "widget_viewed", at: "2026-10-31T23:30:00Z", ...fields };
}

describe("import events", { concurrency: true }, () => {
  test("imports a file once, and the read API shows it", async () => {
    const caller = await makeCaller(db);
    const booking = { step: "booking_completed", at: "2026-11-01T00:30:00Z", start: "2026-11-03T00:30:00Z" };
    const file = writeLines("history.ndjson", [
      makeLine(caller, 1, { source: "google", medium: "cpc", campaign: "Autumn", device: "mobile", country: "DE" }),
      "",
      makeLine(caller, 1, booking),
      makeLine(caller, 2),
    ]);
    const command = ["import", "events", "--org", caller.owner, file];
    assert.deepEqual(await cli.run(command), said("Imported 3 events; 0 already existed."));
    assert.deepEqual(await cli.runInside([...command, "--json"]), said('{"imported":0,"skipped":3}'));

    const { totals, daily, sources } = await getAnalytics(caller, 2);
    assert.deepEqual([totals.views, totals.bookings, totals.avgLeadDays], [2, 1, 2]);
    assert.deepEqual(daily, [
      { day: "2026-10-31", views: 2, bookings: 0 },
      { day: "2026-11-01", views: 0, bookings: 1 },
    ]);
    assert.deepEqual(
      sources.map(({ key, bookings }) => [key, bookings]),
      [
        ["google / cpc", 1],
        ["(direct) / (none)", 0],
      ],
    );
  });

  test("names the bad line, and imports nothing", async () => {
    const caller = await makeCaller(db);
    const stranger = await makeCaller(db);
    const good = makeLine(caller, 1);
    const cases: [name: string, lines: unknown[], sentence: string][] = [
      ["broken", [good, "", "{"], "Line 3: it is not valid JSON. Nothing was imported."],
      ["future", [good, makeLine(caller, 2, { at: "2999-01-01" })], "Line 2: at is in the future. Nothing was imported."],
      ["foreign", [good, makeLine(stranger, 2)], "Line 2: widgetId is not a widget of this organization. Nothing was imported."],
    ]; // biome-ignore format: one case a line
    for (const [name, lines, sentence] of cases) {
      const file = writeLines(`${name}.ndjson`, lines);
      assert.deepEqual(await cli.runInside(["import", "events", "--org", caller.owner, file]), refused(sentence));
    }
    assert.equal((await getAnalytics(caller, 30)).totals.views, 0);
  });

  test("a missing file and an unknown organization give a one-line error", async () => {
    const caller = await makeCaller(db);
    const missing = join(cli.folder, "nowhere.ndjson");
    assert.deepEqual(
      await cli.runInside(["import", "events", "--org", caller.owner, missing]),
      refused(`The file ${JSON.stringify(missing)} can't be read (ENOENT).`),
    );
    assert.deepEqual(
      await cli.runInside(["import", "events", "--org", "org_zzzzzzzzzzzzzzzz", missing]),
      refused('No organization has the ID "org_zzzzzzzzzzzzzzzz". Run "org list" to see all of them.'),
    );
    assert.deepEqual(
      await cli.runInside(["import", "events", missing]),
      refused("--org is missing. Usage: import events --org ORG FILE.ndjson"),
    );
  });

  test("a file too large for the heap is imported, and progress is reported", async () => {
    const caller = await makeCaller(db);
    const lines = Array.from({ length: 2_500 }, (_, index) => {
      const visit = Math.floor(index / 2);
      const at = new Date(Date.UTC(2026, 3, 1) + visit * 40 * MINUTE_MS + (index % 2) * MINUTE_MS);
      const step = index % 2 === 0 ? "widget_viewed" : "slot_selected";
      const campaign = { source: `s${visit % 40}`, medium: "email", campaign: `c${visit % 60}` };
      return makeLine(caller, visit, { at, step, ...campaign, unknown: "long ".repeat(4_000) });
    });
    // Blank lines count as lines that were read, but take no time.
    const file = writeLines("large.ndjson", [...Array(8_000).fill(""), ...lines]);
    assert.ok(2 * statSync(file).size > HEAP_MB * 2 ** 20);
    const command = ["import", "events", "--org", caller.owner, file, "--json"];
    const outcome = await cli.run(command, { nodeOptions: `--max-old-space-size=${HEAP_MB}` });
    assert.deepEqual(outcome, said('{"imported":2500,"skipped":0}', "10000 lines checked\n10000 lines recorded\n"));
    const { totals, campaigns } = await getAnalytics(caller, 730);
    assert.deepEqual([totals.views, totals.slotSessions, campaigns.length], [1_250, 1_250, 25]);
  });
});

test("stats rebuild packs the visits again, and prints their number", async () => {
  const caller = await makeCaller(db);
  const file = writeLines("three.ndjson", [makeLine(caller, 1), makeLine(caller, 2), makeLine(caller, 3)]);
  await cli.runInside(["import", "events", "--org", caller.owner, file]);
  await packVisits(db, caller.owner, { now: deps.clock.now() });
  // Repaired by hand.
  await sql`delete from funnel_visits where organization_id = ${caller.owner} and visit_id = ${visitId(1)}`.execute(db);
  assert.equal((await getAnalytics(caller, 30)).totals.views, 3);

  const command = ["stats", "rebuild", "--org", caller.owner];
  const sentence = `Recalculated the analytics of ${caller.owner} from 2 visits.`;
  assert.deepEqual(await cli.runInside(command), said(sentence));
  assert.equal((await getAnalytics(caller, 30)).totals.views, 2);
  assert.deepEqual(await cli.runInside([...command, "--json"]), said('{"visits":2}'));
});

test("a change of an organization's time zone is in its analytics at once", async () => {
  const caller = await makeCaller(db);
  const file = writeLines("zone.ndjson", [makeLine(caller, 1)]);
  await cli.runInside(["import", "events", "--org", caller.owner, file]);
  const days = async () => {
    const { timeZone, daily } = await getAnalytics(caller, 2);
    return [timeZone, ...daily.map(({ views }) => views)];
  };
  assert.deepEqual(await days(), ["UTC", 1, 0]);
  const set = await cli.runInside(["org", "set", caller.owner, "--time-zone", "europe/berlin"]);
  assert.deepEqual(set, said(`Changed ${caller.owner}  Lindenhof Dental (business, Europe/Berlin).`));
  assert.deepEqual(await days(), ["Europe/Berlin", 0, 1]);
});
