import { type Static, Type } from "typebox";
import { Analytics } from "../analytics.ts";
import { nullable } from "./forms.ts";

/** YYYY-MM-DD in the organization's time zone. */
const Day = Type.String();

/** The read API's analytics for any range of days, with the preceding range of the same length for comparison. */
export const AppAnalytics = Type.Object({
  ...Analytics.properties,
  /** First and last day of the window, both included. */
  from: Day,
  to: Day,
  previous: Type.Object({
    from: Day,
    to: Day,
    totals: Analytics.properties.totals,
    /** False if retention has deleted part of it, which makes a comparison unfair. */
    isComplete: Type.Boolean(),
  }),
  /** The oldest day with counts; null before the first view. */
  dataSince: nullable(Day),
  /** Events of visits over the widgets' daily budget, which were not recorded. 0 except during a flood. */
  droppedEvents: Type.Integer({ minimum: 0 }),
});
export type AppAnalytics = Static<typeof AppAnalytics>;
