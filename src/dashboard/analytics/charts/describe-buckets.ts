import { formatCount, pluralize } from "../../format.ts";
import type { Bucket, Interval } from "./buckets.ts";
import { formatBucket } from "./format-bucket.ts";

/** "412 views and 31 bookings. Most views on 4 Nov 2026 (38); most bookings on 6 Nov 2026 (5)." */
export function describeBuckets(buckets: readonly Bucket[], interval: Interval): string {
  const total = (name: "views" | "bookings") => buckets.reduce((sum, bucket) => sum + (bucket[name] ?? 0), 0);
  const [views, bookings] = [total("views"), total("bookings")];
  const counts = `${pluralize(views, "view")} and ${pluralize(bookings, "booking")}.`;
  const best = [
    views > 0 ? `most views${describeBest(buckets, "views", interval)}` : "",
    bookings > 0 ? `most bookings${describeBest(buckets, "bookings", interval)}` : "",
  ].filter(Boolean);
  const sentence = best.join("; ");
  return best.length === 0 ? counts : `${counts} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

function describeBest(buckets: readonly Bucket[], name: "views" | "bookings", interval: Interval): string {
  const most = Math.max(...buckets.map((bucket) => bucket[name] ?? 0));
  const [best, ...others] = buckets.filter((bucket) => bucket[name] === most);
  const when = { hour: "on", day: "on", week: "in the", month: "in" }[interval];
  if (!best || others.length > 0) return `: ${pluralize(others.length + 1, interval)} with ${formatCount(most)} each`;
  return ` ${when} ${formatBucket(best.start, interval).replace("Week", "week")} (${formatCount(most)})`;
}
