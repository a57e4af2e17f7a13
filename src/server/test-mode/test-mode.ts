// What other slices use of test-mode.

export { hasLiveBooking, isTestVisit, openLivePeriod, type TestData } from "./queries.ts";
