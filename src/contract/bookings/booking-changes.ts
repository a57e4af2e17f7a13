import { type Static, Type } from "typebox";
import { pageByTime, timestampOf } from "../timestamps.ts";
import { BOOKING_STATUS_CANCELLED, bookingFields } from "./booking.ts";

// What became of appointments since they were booked, for those who keep copies of the bookings. No personal data.

export const CHANGE_TYPES = ["cancelled", "rescheduled"] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

export const Change = Type.Object(
  {
    reference: bookingFields.reference,
    type: Type.Union([Type.Literal("cancelled"), Type.Literal("rescheduled")], {
      description: "`cancelled`, or `rescheduled`: the appointment has other times.",
      examples: ["rescheduled"],
    }),
    status: Type.String({
      description: "The booking's status after the change: `confirmed` or `cancelled`.",
      examples: ["confirmed", BOOKING_STATUS_CANCELLED],
    }),
    start: timestampOf("Start of the appointment after the change.", "2026-11-06T09:00:00.000Z"),
    end: timestampOf("End of the appointment after the change.", "2026-11-06T09:30:00.000Z"),
    previousStart: timestampOf("Start of the appointment before the change.", "2026-11-05T13:30:00.000Z"),
    changedAt: timestampOf(
      "When Bookflow recorded the change. The filter and the ordering use this.",
      "2026-11-03T10:05:00.000Z",
    ),
  },
  { title: "Change" },
);
export type Change = Static<typeof Change>;

export const ChangePage = pageByTime(Change, {
  title: "ChangePage",
  last: "changedAt of the last change",
  example: "2026-11-03T10:05:00.000Z",
});
export type ChangePage = Static<typeof ChangePage>;

// Deletions of stored bookings, for those who keep copies of them. They contain no personal data.

/** `erased`: with all bookings of an email address. `deleted`: on its own, or with a widget's test data. `expired`: its retention ended. */
export type DeletionReason = Static<typeof deletionReason>;

export const deletionReason = Type.Union([Type.Literal("erased"), Type.Literal("deleted"), Type.Literal("expired")], {
  description:
    "`erased` with all bookings of an email address, `expired` at the end of its retention, or `deleted` in any other way.",
  examples: ["erased"],
});

export const Deletion = Type.Object(
  {
    reference: bookingFields.reference,
    widgetId: Type.String({ description: "The widget it was booked through.", examples: ["w_4fTqD8sKmB2x"] }),
    reason: deletionReason,
    deletedAt: timestampOf(
      "When the booking was deleted. The filter and the ordering use this.",
      "2026-11-03T16:20:00.000Z",
    ),
  },
  { title: "Deletion" },
);
export type Deletion = Static<typeof Deletion>;

export const DeletionPage = pageByTime(Deletion, {
  title: "DeletionPage",
  last: "deletedAt of the last deletion",
  example: "2026-11-03T16:20:00.000Z",
});
export type DeletionPage = Static<typeof DeletionPage>;
