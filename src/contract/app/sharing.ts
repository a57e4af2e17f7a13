import { type Static, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";
import { AppAnalytics, BookingTimes } from "./analytics.ts";
import { NullableText } from "./forms.ts";

// Segments, which are sets of filters that an organization has saved under a name, and links that show one report to people without
// an account.

const Name = Type.String();

/** A query string such as `country=DE&country=AT`. */
const Query = Type.String({ maxLength: 8_000 });

export const Segment = Type.Object({ id: Type.String(), name: Name, query: Query });
export type Segment = Static<typeof Segment>;

export const SegmentList = Type.Object({ data: Type.Array(Segment) });

export const NewSegment = Type.Object({ name: Name, query: Query });

export const SegmentChange = Type.Object({ name: Name });

export const ReportLink = Type.Object({
  id: Type.String(),
  name: Name,
  query: Query,
  /** Whoever has it sees the report. */
  url: Type.String(),
  createdBy: NullableText,
  createdAt: Timestamp,
});
export type ReportLink = Static<typeof ReportLink>;

export const ReportLinkList = Type.Object({ data: Type.Array(ReportLink) });

export const NewReportLink = Type.Object({ name: Name, query: Query });

export const SharedReportRequest = Type.Object({ token: Type.String({ maxLength: 100 }) });
export type SharedReportRequest = Static<typeof SharedReportRequest>;

/** Counts only: nothing about customers, and no way to ask for other visits or days. */
export const SharedReport = Type.Object({
  organizationName: Type.String(),
  name: Name,
  /** What it shows: period, comparison and filters. */
  query: Query,
  report: AppAnalytics,
  times: BookingTimes,
  /** Those in the report. */
  widgets: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
});
export type SharedReport = Static<typeof SharedReport>;
