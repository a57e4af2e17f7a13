import assert from "node:assert/strict";
import { test } from "node:test";
import { describeConnectionProblem, describeEndpointProblem } from "../shell/alerts.ts";

test("an endpoint that Bookflow turned off is not said to be failing", () => {
  const describe = (disabledReason: "failing" | "gone" | null) => describeEndpointProblem({ disabledReason }).join("X");
  assert.equal(describe(null), "Deliveries to X are failing.");
  assert.equal(describe("failing"), "Bookflow turned off X.");
  assert.equal(describe("gone"), "Bookflow turned off X.");
});

test("a broken connection affects visitors only if a widget uses it", () => {
  const describe = (widgetCount: number) => describeConnectionProblem({ widgetCount }).join("X");
  assert.equal(describe(0), "X isn’t working.");
  assert.equal(describe(1), "X isn’t working. Visitors may not be able to book.");
});
