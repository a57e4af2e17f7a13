import assert from "node:assert/strict";
import { test } from "node:test";
import type { WidgetId } from "#contract/ids.ts";
import { DIRECT_TOUCH } from "../../../../test/support/funnel/touches.ts";
import { mergeTouches, STEP_COLUMNS } from "./merge-touches.ts";
import { type Touch, toStepBit } from "./touch.ts";

const ALL_STEPS = STEP_COLUMNS.reduce((bits, { step }) => bits | toStepBit(step), 0);

function makeTouch(at: string, steps: number): Touch {
  const place = { organizationId: "org_1" as Touch["organizationId"], widgetId: "w_1" as WidgetId };
  return { ...DIRECT_TOUCH, ...place, at: new Date(at), steps, conversion: null };
}

test("each step has the earliest of its instants, in whichever order the touches come", () => {
  const early = makeTouch("2026-11-01T10:00:00Z", toStepBit("widget_viewed"));
  const middle = makeTouch("2026-11-01T10:01:00Z", ALL_STEPS);
  const late = makeTouch("2026-11-01T10:02:00Z", ALL_STEPS);
  const expected = STEP_COLUMNS.map(({ step }) => (step === "widget_viewed" ? early.at : middle.at));
  for (const touches of [
    [early, middle, late],
    [late, middle, early],
    [middle, late, early],
  ]) {
    const { visits } = mergeTouches(touches);
    assert.deepEqual(
      visits.map(({ stepTimes }) => stepTimes),
      [expected],
    );
  }
});

test("a step that no touch has taken has no instant", () => {
  const { visits } = mergeTouches([makeTouch("2026-11-01T10:00:00Z", toStepBit("date_selected"))]);
  assert.deepEqual(
    visits[0]?.stepTimes.map((at) => at !== null),
    [false, false, true, false, false, false],
  );
});
