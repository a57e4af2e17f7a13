import assert from "node:assert/strict";
import { test } from "node:test";
import { findOutlier } from "./compare-drops.ts";

const toFunnel = ([viewed = 0, service = 0, date = 0, slot = 0, form = 0, booked = 0]: number[]) => ({
  widget_viewed: viewed,
  service_selected: service,
  date_selected: date,
  slot_selected: slot,
  form_started: form,
  booking_completed: booked,
});

const phones = toFunnel([1000, 600, 450, 350, 140, 80]);
const computers = toFunnel([500, 290, 210, 150, 120, 60]);
const few = toFunnel([20, 1, 0, 0, 0, 0]);

test("a group's outlier is the step where it loses more visits than the others, not where most visits end", () => {
  assert.deepEqual(findOutlier(phones, [computers]), { step: "slot_selected", rate: 0.6, othersRate: 1 - 120 / 150 });
});

test("there is no outlier without others, among few visits, or if the difference is small", () => {
  assert.equal(findOutlier(phones, []), null);
  assert.equal(findOutlier(few, [phones, computers]), null);
  assert.equal(findOutlier(phones, [phones]), null);
});
