import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mode } from "#contract/widgets/widget.ts";
import { can } from "../can.ts";
import { pathsOf } from "../paths.ts";
import { toChecklistSteps } from "./checklist-steps.ts";

const NOTHING = {
  hasWidget: false,
  hasLook: false,
  storesBookings: false,
  isOnPage: false,
  hasTestBooking: false,
  hasConnection: false,
  isLive: false,
  hasLiveBooking: false,
  hasEndpoint: false,
  hasSecondMember: false,
};
const paths = pathsOf("org_1");
const WIDGETS = [
  { id: "w_1", pageUrl: "https://book.example/w/w_1", mode: "test" as Mode },
  { id: "w_2", pageUrl: "https://book.example/w/w_2", mode: "live" as Mode },
];
type Member = Parameters<typeof can>[0];
const list = (done: object, member: Partial<Member> = {}, widgets = WIDGETS) =>
  toChecklistSteps(
    { ...NOTHING, ...done },
    { paths, widgets, isAllowed: (action) => can({ role: "owner", plan: "business", ...member }, action).isAllowed },
  );
const TESTED = { hasWidget: true, hasLook: true, storesBookings: true, hasTestBooking: true };
const findNext = (...given: Parameters<typeof list>) => list(...given).find(({ isDone }) => !isDone);

test("the next step is the first that is not done, and leads to where it is done", () => {
  assert.equal(findNext({}, {}, [])?.key, "hasWidget");
  const live = findNext({ ...TESTED, hasConnection: true });
  assert.deepEqual([live?.key, live?.to, live?.search], ["isLive", paths.widget("w_1"), { mode: "go-live" }]);
});

test("test bookings are made on the page of a widget in test mode, and live ones on that of a live widget", () => {
  const pages = list({}).flatMap(({ key, outside }) => (outside ? [[key, outside]] : []));
  assert.deepEqual(pages, [
    ["hasTestBooking", WIDGETS[0]?.pageUrl],
    ["hasLiveBooking", WIDGETS[1]?.pageUrl],
  ]);
});

test("steps that the plan or the role forbids are left out", () => {
  const keys = (member: Partial<Member>) => list({}, member).map(({ key }) => key);
  assert.ok(keys({}).includes("hasEndpoint"));
  assert.ok(!keys({ plan: "free" }).includes("hasEndpoint"));
  assert.deepEqual(keys({ role: "viewer" }), ["hasOrganization"]);
});

test("Store bookings is a step until it is on, or until going live has asked about it", () => {
  const isDone = (done: object) => list(done).find(({ key }) => key === "storesBookings")?.isDone;
  assert.deepEqual([isDone({}), isDone({ storesBookings: true }), isDone({ isLive: true })], [false, true, true]);
});

test("inviting a colleague and adding an endpoint are optional", () => {
  const optional = list({}).flatMap(({ key, isOptional }) => (isOptional ? [key] : []));
  assert.deepEqual(optional, ["hasEndpoint", "hasSecondMember"]);
});

test("when everything is done, no step is left", () => {
  const all = Object.fromEntries(Object.keys(NOTHING).map((name) => [name, true]));
  assert.equal(findNext(all), undefined);
});
