// What other slices use of analytics. An event's way: collect/ takes requests, classify/ finds source, device and country, record/
// unites visits, packs/ makes them small, count/ counts a selection (window, filters, dimensions), report/ shows the numbers, and
// sharing/ has segments and links to reports.

export {
  ATTRIBUTION_TEXT_MAX,
  honourPrivacySignal,
  readAttribution,
  redactAttribution,
  TOUCHES_MAX,
} from "./classify/attribution.ts";
export { type Classification, classifySource, toCampaignKey } from "./classify/classify-source.ts";
export { type ReadVisit, VisitReader } from "./classify/read-visit.ts";
export { Collector } from "./collect/collect.ts";
export { collectRoutes } from "./collect/routes.ts";
export { deleteExpiredVisits, deleteUnusedKeys, forgetVisits } from "./delete-visits.ts";
export { importEvents } from "./import/import-events.ts";
export { packOutdated, rebuildPacks } from "./packs/pack-visits.ts";
export { type Conversion, type Hit, toStepBit, type VisitClass } from "./record/hit.ts";
export { WRITER_LIMITS } from "./record/hit-writer.ts";
export { keepStoredKeys } from "./record/key-cap.ts";
export { toKindNumber } from "./record/key-id.ts";
export { recordHits } from "./record/record.ts";
export { makeReport, readReport, readSelection } from "./report/app-report.ts";
export { analyticsAppRoutes } from "./report/app-routes.ts";
export { readBreakdownCompared } from "./report/breakdown/breakdown.ts";
export { findFirstCountedDay, readDayTotals, toShownDay } from "./report/day-totals.ts";
export { analyticsReadRoutes } from "./report/read-routes.ts";
export { reportLinkRoutes } from "./sharing/link-routes.ts";
export { segmentRoutes } from "./sharing/segment-routes.ts";
export { sharedReportRoutes } from "./sharing/shared-report-routes.ts";
