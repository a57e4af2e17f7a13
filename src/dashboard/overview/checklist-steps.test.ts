import assert from "node:assert/strict";
import { test } from "node:test";
import { pathsOf } from "../paths.ts";
import { toChecklistSteps } from "./checklist-steps.ts";

const NOTHING = {
  hasWidget: false,
  hasLook: false,
  isOnPage: false,
  hasTestBooking: false,
  hasConnection: false,
  isLive: false,
  hasLiveBooking: false,
  hasEndpoint: false,
  hasSecondMember: false,
};
const paths = pathsOf("org_1");
const findNext = (done: object, widget: string | null = "w_1") =>
  toChecklistSteps({ ...NOTHING, ...done }, { paths, widget }).find(({ isDone }) => !isDone);

test("the next step is the first that is not done, and leads to where it is done", () => {
  assert.equal(findNext({}, null)?.key, "hasWidget");
  const live = findNext({ hasWidget: true, hasLook: true, hasTestBooking: true, hasConnection: true });
  assert.deepEqual([live?.key, live?.to, live?.search], ["isLive", paths.widget("w_1"), { mode: "go-live" }]);
});

test("when everything is done, no step is left", () => {
  const all = Object.fromEntries(Object.keys(NOTHING).map((name) => [name, true]));
  assert.equal(findNext(all), undefined);
});
