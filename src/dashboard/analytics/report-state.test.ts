import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cleanState,
  describeReportQuery,
  REPORT_DEFAULTS,
  type ReportState,
  toComparison,
  toReportQuery,
  toScope,
} from "./report-state.ts";

const TODAY = "2026-11-01";

function ask(address: Partial<ReportState>) {
  const state = cleanState({ ...REPORT_DEFAULTS, ...address }, TODAY);
  return { ...toScope(state), ...toComparison(state) };
}

test("an address with wrong parameters shows the report without them", () => {
  const plain = { days: "30", compare: "previous", match: "weekday" };
  for (const address of [
    { compare: "foo" },
    { match: "moon" },
    { compare: "custom" },
    { compare: "custom", compareFrom: "2026-10-02", compareTo: "2026-10-01" },
    { compare: "custom", compareFrom: "2026-02-31", compareTo: "2026-10-01" },
    { period: "fortnight" },
    { days: "many" },
    { from: "tomorrow" },
    { from: "2026-02-31" },
    { from: "2026-11-02" },
    { from: "2026-10-02", to: "2026-10-01" },
    { weekday: "someday", notHour: "24", leadTime: "5" },
    { interval: "minute", split: "moon", list: "stars", heat: "cold" },
  ])
    assert.deepEqual(ask(address), plain, JSON.stringify(address));
});

test("a number of days that is too high is replaced with the highest one", () => {
  assert.deepEqual(ask({ days: "99999" }), { days: "730", compare: "previous", match: "weekday" });
});

test("what is right in an address stays, and a range that is too long is cut", () => {
  assert.deepEqual(ask({ from: "2026-10-01", to: "2027-01-01", compare: "none" }), {
    from: "2026-10-01",
    to: "2027-01-01",
    compare: "none",
    match: "weekday",
  });
  assert.deepEqual(ask({ to: "2026-10-01", compare: "custom", compareFrom: "2026-09-01", compareTo: "2026-09-02" }), {
    from: "",
    to: "2026-10-01",
    compare: "custom",
    compareFrom: "2026-09-01",
    compareTo: "2026-09-02",
  });
  assert.deepEqual(ask({ from: "2020-01-01", to: "2026-10-31" }), {
    from: "2024-11-01",
    to: "2026-10-31",
    compare: "previous",
    match: "weekday",
  });
});

test("a link's query has a period that moves or fixed days, the comparison and the filters, and is read as it is said", () => {
  const state = { ...REPORT_DEFAULTS, period: "last-month", country: "DE\nAT", notDevice: "tablet", metric: "rate" };
  const moving = toReportQuery(state, null);
  assert.equal(moving, "period=last-month&compare=previous&match=weekday&notDevice=tablet&country=DE&country=AT");
  const names = new Map<string, string>();
  assert.equal(describeReportQuery(moving, names), "Last month · Device is not Tablet · Country is Germany or Austria");
  const report = { from: "2026-10-01", to: "2026-10-31", totals: 1 };
  const fixed = toReportQuery({ ...REPORT_DEFAULTS, period: "last-month" }, report);
  assert.equal(fixed, "from=2026-10-01&to=2026-10-31&compare=previous&match=weekday");
});
