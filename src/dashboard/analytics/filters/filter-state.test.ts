import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cleanFilters,
  countsOnlyBookedVisits,
  FILTER_DEFAULTS,
  isFull,
  listFilters,
  passesFilters,
  replaceFilter,
  setFilter,
  toFilterParameters,
  toggleKey,
} from "./filter-state.ts";

const COUNTRY = { dimension: "country", isNegated: false } as const;
const GERMANY = { ...COUNTRY, keys: ["DE"] };
const BOTH = { ...COUNTRY, keys: ["DE", "AT"] };

test("a click adds a filter, a second one removes it", () => {
  const once = { ...FILTER_DEFAULTS, ...toggleKey(FILTER_DEFAULTS, { ...COUNTRY, key: "DE" }) };
  const twice = { ...once, ...toggleKey(once, { ...COUNTRY, key: "AT" }) };
  assert.deepEqual(listFilters(twice), [BOTH]);
  assert.deepEqual(toFilterParameters(twice), { country: ["DE", "AT"] });
  const left = { ...twice, ...toggleKey(twice, { ...COUNTRY, key: "DE" }) };
  assert.deepEqual(listFilters(left), [{ ...COUNTRY, keys: ["AT"] }]);
});

test("leaving out what was shown takes it from the shown ones", () => {
  const shown = { ...FILTER_DEFAULTS, country: "DE\nAT" };
  const left = { ...shown, ...toggleKey(shown, { ...COUNTRY, isNegated: true, key: "DE" }) };
  assert.deepEqual(toFilterParameters(left), { country: ["AT"], notCountry: ["DE"] });
});

test("a filter is full with as many keys as the server accepts, and its opposite is not", () => {
  const keys = Array.from({ length: 20 }, (_, i) => `C${i}`);
  const left = { ...FILTER_DEFAULTS, notCampaign: keys.join("\n") };
  assert.ok(isFull(left, { dimension: "campaign", isNegated: true }));
  assert.ok(!isFull(left, { dimension: "campaign", isNegated: false }));
  assert.ok(!isFull({ ...left, notCampaign: keys.slice(1).join("\n") }, { dimension: "campaign", isNegated: true }));
});

test("an edited filter has the chosen keys, and none removes it", () => {
  const shown = { ...FILTER_DEFAULTS, country: "DE", notCountry: "FR\nAT" };
  const edited = { ...shown, ...replaceFilter(shown, GERMANY, BOTH) };
  assert.deepEqual(toFilterParameters(edited), { country: ["DE", "AT"], notCountry: ["FR"] });
  assert.deepEqual(toFilterParameters({ ...shown, ...setFilter(shown, { ...GERMANY, keys: [] }) }), {
    notCountry: ["FR", "AT"],
  });
});

test("is becomes is not, together with what was left out before", () => {
  const shown = { ...FILTER_DEFAULTS, country: "DE\nAT", notCountry: "FR" };
  const negated = { ...shown, ...replaceFilter(shown, BOTH, { ...BOTH, isNegated: true }) };
  assert.deepEqual(toFilterParameters(negated), { notCountry: ["FR", "DE", "AT"] });
});

test("what the server would refuse is left out of the filters of an address", () => {
  const many = Array.from({ length: 30 }, (_, i) => `C${i}`);
  const cleaned = cleanFilters({
    ...FILTER_DEFAULTS,
    weekday: "monday\nsomeday",
    notHour: "24",
    leadTime: "2-3",
    campaign: [...many, "C0"].join("\n"),
    page: "x".repeat(1001),
    source: "a\0b\nc",
  });
  assert.deepEqual(toFilterParameters(cleaned), {
    source: ["c"],
    campaign: many.slice(0, 20),
    weekday: ["monday"],
    leadTime: ["2-3"],
  });
});

test("countries, devices and channels of an address are written as in the lists", () => {
  const cleaned = cleanFilters({
    ...FILTER_DEFAULTS,
    country: "de\nDE\nAt",
    notDevice: "MOBILE",
    channel: "organic search",
    campaign: "Spring\nspring",
  });
  assert.deepEqual(toFilterParameters(cleaned), {
    channel: ["Organic Search"],
    campaign: ["Spring", "spring"],
    notDevice: ["mobile"],
    country: ["DE", "AT"],
  });
});

test("a key passes if it is one of those shown, or not one of those left out", () => {
  const listPassing = (filters: object) =>
    ["DE", "AT", "CH"].filter((key) =>
      passesFilters({ ...FILTER_DEFAULTS, ...filters }, { dimension: "country", key }),
    );
  assert.deepEqual(listPassing({ device: "mobile" }), ["DE", "AT", "CH"]);
  assert.deepEqual(listPassing({ country: "DE\nAT" }), ["DE", "AT"]);
  assert.deepEqual(listPassing({ notCountry: "DE\nAT" }), ["CH"]);
});

test("a filter by service or lead time leaves out visits that didn't book, unless it only excludes", () => {
  const check = (filters: Partial<typeof FILTER_DEFAULTS>) =>
    countsOnlyBookedVisits({ ...FILTER_DEFAULTS, ...filters });
  assert.ok(check({ service: "Haircut" }));
  assert.ok(check({ leadTime: "2-3", notService: "Haircut" }));
  assert.ok(!check({ notService: "Haircut", notLeadTime: "0" }));
  assert.ok(!check({ country: "DE" }));
});
