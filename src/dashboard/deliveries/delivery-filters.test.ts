import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_FILTERS, toQuery } from "./delivery-filters.ts";

const RANGE = { from: "2026-11-01T13:00", to: "2026-11-01T14:00" };

test("a custom range is asked for in the organization's time zone, and only while it is chosen", () => {
  const { time: _time, from: _from, to: _to, ...others } = { ...NO_FILTERS, state: "failed" };
  const ask = (time: string) => toQuery({ ...NO_FILTERS, ...RANGE, state: "failed", time }, "Europe/Berlin");
  assert.deepEqual(ask("between"), { ...others, from: "2026-11-01T12:00:00.000Z", to: "2026-11-01T13:00:00.000Z" });
  assert.deepEqual(ask(""), others);
  const { from, ...rest } = ask("hour");
  assert.match(String(from), /Z$/);
  assert.deepEqual(rest, others);
});
