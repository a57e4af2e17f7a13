import { type Static, Type } from "typebox";

export const REPORT_PERIODS = ["weekly", "monthly"] as const;
export type ReportPeriod = (typeof REPORT_PERIODS)[number];

/** Local time of the organization from which reports are sent: on Monday, or on the first of the month. */
export const REPORT_HOUR = 8;

/** What the signed-in member gets from this organization. */
export const ReportSubscriptions = Type.Object({
  weekly: Type.Boolean(),
  monthly: Type.Boolean(),
  /** False without a mail server: nothing is sent. */
  isMailOn: Type.Boolean(),
});
export type ReportSubscriptions = Static<typeof ReportSubscriptions>;

export const ReportChange = Type.Object({
  weekly: Type.Optional(Type.Boolean()),
  monthly: Type.Optional(Type.Boolean()),
});
export type ReportChange = Static<typeof ReportChange>;
