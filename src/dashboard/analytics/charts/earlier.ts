import { type AppAnalytics, HOURLY_DAYS_MAX } from "#contract/app/analytics.ts";
import { describeDayRange } from "../../day-range.ts";
import { FIRST_DAY_OF_WEEK } from "../../first-day-of-week.ts";
import { pluralize } from "../../format.ts";
import { type Bucket, type Interval, toBuckets } from "./buckets.ts";

export type Earlier = {
  buckets: readonly Bucket[];
  label: string;
  /** Says what the chart leaves out; empty if it shows all of it. */
  note: string;
};

type Compared = Pick<AppAnalytics, "previous" | "dataSince">;

/** The chart has room for as many points as the period itself has. */
export function toEarlier({ previous, dataSince }: Compared, interval: Interval, points: number): Earlier {
  if (!previous?.isComplete) return { buckets: [], label: "", note: "" };
  const label = describeDayRange(previous.from, previous.to);
  if (interval === "hour" && previous.hourly === null)
    return {
      ...{ buckets: [], label },
      note: `The comparison isn’t shown by hour because it covers more than ${pluralize(HOURLY_DAYS_MAX, "day")}.`,
    };
  // A partial day ends at the same time of day, and so does its line.
  const now = previous.untilTime === null ? `${previous.to}T24` : `${previous.to}T${previous.untilTime}`;
  const buckets = toBuckets({ ...previous, dataSince, now }, interval, FIRST_DAY_OF_WEEK);
  if (buckets.length <= points) return { buckets, label, note: "" };
  const first = `first ${points === 1 ? interval : pluralize(points, interval)}`;
  return {
    buckets: buckets.slice(0, points),
    label: `${label} (${first})`,
    note: `The grey line shows the ${first} of ${label}.`,
  };
}
