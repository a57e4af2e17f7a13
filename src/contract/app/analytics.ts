import { type Static, Type } from "typebox";
import { Analytics } from "../analytics.ts";
import { nullable } from "./forms.ts";

/** YYYY-MM-DD in the organization's time zone. */
const Day = Type.String();

/** The read API's analytics of any window of days, and the same number of days before it to compare with. */
export const AppAnalytics = Type.Object({
  ...Analytics.properties,
  /** First and last day of the window, both included. */
  from: Day,
  to: Day,
  previous: Type.Object({
    from: Day,
    to: Day,
    totals: Analytics.properties.totals,
    /** False where part of it is older than what is kept: no fair comparison. */
    isComplete: Type.Boolean(),
  }),
  /** The oldest day of which anything is counted; null before the first view. */
  dataSince: nullable(Day),
});
export type AppAnalytics = Static<typeof AppAnalytics>;
