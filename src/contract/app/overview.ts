import { type Static, Type } from "typebox";
import { BookingSummary } from "./bookings.ts";

/** What a business does in its first hour; each is true once it has been done. */
export const Checklist = Type.Object({
  hasWidget: Type.Boolean(),
  hasLook: Type.Boolean(),
  /** Store bookings is on for a widget. */
  storesBookings: Type.Boolean(),
  /** The widget was viewed on a page that is not ours. */
  isOnPage: Type.Boolean(),
  hasTestBooking: Type.Boolean(),
  hasConnection: Type.Boolean(),
  isLive: Type.Boolean(),
  hasLiveBooking: Type.Boolean(),
  hasEndpoint: Type.Boolean(),
  hasSecondMember: Type.Boolean(),
});
export type Checklist = Static<typeof Checklist>;

export const Overview = Type.Object({
  checklist: Checklist,
  /** By the person who asks. */
  isChecklistDismissed: Type.Boolean(),
  /** The next appointments, soonest first. */
  upcoming: Type.Array(BookingSummary),
  now: Type.Object({
    /** Visits that began in the last hour. */
    visits: Type.Integer(),
    /** Bookings made in the last 24 hours. */
    bookings: Type.Integer(),
  }),
  /** The last 7 days have visits in test mode. */
  includesTests: Type.Boolean(),
});
export type Overview = Static<typeof Overview>;
