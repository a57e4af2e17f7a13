import assert from "node:assert/strict";
import { test } from "node:test";
import type { WidgetId } from "#contract/ids.ts";
import { NOON } from "../../../../test/support/builders.ts";
import { DIRECT_HIT, makeHit, SEARCH_AD } from "../../../../test/support/funnel/hits.ts";
import { type Hit, toStepBit } from "./hit.ts";
import { mergeHits, STEP_COLUMNS } from "./merge-hits.ts";

const ALL_STEPS = STEP_COLUMNS.reduce((bits, { step }) => bits | toStepBit(step), 0);

function takeSteps(at: string, steps: number): Hit {
  const place = { organizationId: "org_1" as Hit["organizationId"], widgetId: "w_1" as WidgetId };
  return { ...DIRECT_HIT, ...place, at: new Date(at), steps, conversion: null };
}

test("each step has the earliest of its instants, in whichever order the hits come", () => {
  const early = takeSteps("2026-11-01T10:00:00Z", toStepBit("widget_viewed"));
  const middle = takeSteps("2026-11-01T10:01:00Z", ALL_STEPS);
  const late = takeSteps("2026-11-01T10:02:00Z", ALL_STEPS);
  const expected = STEP_COLUMNS.map(({ step }) => (step === "widget_viewed" ? early.at : middle.at));
  for (const hits of [
    [early, middle, late],
    [late, middle, early],
    [middle, late, early],
  ]) {
    const visits = mergeHits(hits);
    assert.deepEqual(
      visits.map(({ stepTimes }) => stepTimes),
      [expected],
    );
  }
});

test("a step that no hit has taken has no instant", () => {
  const visits = mergeHits([takeSteps("2026-11-01T10:00:00Z", toStepBit("date_selected"))]);
  assert.deepEqual(
    visits[0]?.stepTimes.map((at) => at !== null),
    [false, false, true, false, false, false],
  );
});

test("a visit with a booking takes the booking's keys where its own are (other), in either order", () => {
  const widgetId = "w_111111111111" as WidgetId;
  const other = { source: "(other)", medium: "(other)", campaign: "(other)", channel: "Paid Search" };
  const view = { ...makeHit({ widgetId, visit: 1, at: NOON, class: other }), page: "(other)" };
  const later = { widgetId, visit: 1, at: new Date(NOON.getTime() + 1), class: SEARCH_AD };
  const booking = makeHit({ ...later, step: "booking_completed" });
  const { source, medium, campaign, page } = booking;
  for (const hits of [
    [view, booking],
    [booking, view],
  ])
    assert.deepEqual(mergeHits(hits)[0]?.start, { ...view, source, medium, campaign, page });
  assert.deepEqual(mergeHits([view, makeHit({ ...later, step: "booking_failed" })])[0]?.start, view);
});
