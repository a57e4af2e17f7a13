import type { BookingTimes } from "#contract/app/analytics.ts";
import type { Db } from "../../db/pool.ts";
import { countVisits } from "../count/count-visits.ts";
import { toWeek } from "../count/to-counts.ts";
import { type Question, toScan } from "./app-report.ts";
import { readRows } from "./breakdown/breakdown.ts";

/** Services beside the other times; the whole list is in the breakdown. */
const SERVICES_SHOWN = 25;
const PART = {
  search: null,
  sort: "bookings",
  isAscending: false,
  after: null,
  offset: 0,
  limit: SERVICES_SHOWN,
} as const;

export async function readTimes(db: Db, question: Question): Promise<BookingTimes> {
  const { owner, window } = question;
  const counts = await countVisits(db, toScan(question, window), { lists: ["service"] });
  return {
    views: toWeek(counts, counts.hourViews),
    bookings: toWeek(counts, counts.hourBookings),
    leadTimes: counts.leadTimes,
    services: await readRows(db, owner, {
      totals: counts.lists.get("service"),
      dimension: "service",
      part: PART,
    }),
  };
}
