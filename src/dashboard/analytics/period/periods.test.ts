import assert from "node:assert/strict";
import { test } from "node:test";
import { toWindow } from "./periods.ts";

test("each period has its days", () => {
  const days = (period: string, today: string) => toWindow({ period, days: "30", from: "", to: "" }, today);
  assert.deepEqual(days("today", "2026-11-01"), { from: "2026-11-01", to: "2026-11-01" });
  assert.deepEqual(days("yesterday", "2026-01-01"), { from: "2025-12-31", to: "2025-12-31" });
  assert.deepEqual(days("month", "2026-11-15"), { from: "2026-11-01", to: "2026-11-15" });
  assert.deepEqual(days("last-month", "2026-03-31"), { from: "2026-02-01", to: "2026-02-28" });
  assert.deepEqual(days("last-month", "2026-01-15"), { from: "2025-12-01", to: "2025-12-31" });
  assert.deepEqual(days("year", "2026-11-15"), { from: "2026-01-01", to: "2026-11-15" });
  assert.deepEqual(days("12-months", "2026-11-15"), { from: "2025-11-16", to: "2026-11-15" });
  assert.deepEqual(days("12-months", "2028-02-29"), { from: "2027-03-01", to: "2028-02-29" });
  assert.deepEqual(days("all", "2026-11-15"), { days: "730" });
  assert.deepEqual(days("", "2026-11-15"), { days: "30" });
  assert.deepEqual(days("next-week", "2026-11-15"), { days: "30" });
});

test("two days win over a name and a number", () => {
  const chosen = { period: "today", days: "7", from: "2026-10-01", to: "" };
  assert.deepEqual(toWindow(chosen, "2026-11-15"), { from: "2026-10-01", to: "" });
});
