import assert from "node:assert/strict";
import { test } from "node:test";
import { readZoneRules } from "../../lib/time/zone-rules.ts";
import { toPack, toRecord } from "../packs/visit-pack.ts";
import { toLocalWindow } from "./local-window.ts";
import { VisitCounts } from "./visit-counts.ts";

/** What a window counts of a visit that started, booked and failed to book at the same instant. */
function countAt(at: string): { views: number | undefined; bookings: number; failed: number } {
  const window = toLocalWindow(readZoneRules("Europe/Berlin"), { from: "2026-11-01", to: "2026-11-02" });
  const counts = new VisitCounts(window, { filters: [], lists: [] });
  const conversions = [{ visit: 0, times: [Date.parse(at), null] as const }];
  const pack = toPack(Date.parse(at.slice(0, 10)), {
    startedMs: Float64Array.of(Date.parse(at)),
    stages: Float64Array.of(2),
    keys: toRecord(() => Float64Array.of(1)),
    widgets: ["w_1"],
    bookings: conversions,
    failures: conversions,
  });
  counts.add(pack);
  const bookings = counts.hourBookings.reduce((sum, each) => sum + each, 0);
  return { views: counts.reached[0], bookings, failed: counts.failed };
}

const COUNTED = { views: 1, bookings: 1, failed: 1 };
const NOT_COUNTED = { views: 0, bookings: 0, failed: 0 };

for (const [at, expected] of [
  ["2026-10-31T22:59:59.999Z", NOT_COUNTED],
  ["2026-10-31T23:00:00.000Z", COUNTED],
  ["2026-11-02T22:59:59.999Z", COUNTED],
  ["2026-11-02T23:00:00.000Z", NOT_COUNTED],
] as const)
  test(`1 and 2 November in Berlin ${expected === COUNTED ? "include" : "leave out"} ${at}`, () =>
    assert.deepEqual(countAt(at), expected));
