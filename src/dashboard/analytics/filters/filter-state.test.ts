import assert from "node:assert/strict";
import { test } from "node:test";
import { FILTER_DEFAULTS, listFilters, negateFilter, toFilterParameters, toggleFilter } from "./filter-state.ts";

const GERMANY = { dimension: "country", key: "DE", isNegated: false } as const;
const AUSTRIA = { ...GERMANY, key: "AT" };

test("a click adds a filter, a second one removes it", () => {
  const once = { ...FILTER_DEFAULTS, ...toggleFilter(FILTER_DEFAULTS, GERMANY) };
  const twice = { ...once, ...toggleFilter(once, AUSTRIA) };
  assert.deepEqual(listFilters(twice), [GERMANY, AUSTRIA]);
  assert.deepEqual(toFilterParameters(twice), { country: ["DE", "AT"] });
  assert.deepEqual(listFilters({ ...twice, ...toggleFilter(twice, GERMANY) }), [AUSTRIA]);
});

test("leaving out what was shown replaces the filter, and negating it again brings it back", () => {
  const shown = { ...FILTER_DEFAULTS, country: "DE\nAT" };
  const negated = { ...shown, ...negateFilter(shown, GERMANY) };
  assert.deepEqual(toFilterParameters(negated), { country: ["AT"], notCountry: ["DE"] });
  assert.deepEqual(toFilterParameters({ ...negated, ...negateFilter(negated, { ...GERMANY, isNegated: true }) }), {
    country: ["AT", "DE"],
  });
});
