import { type Static, Type } from "typebox";
import { BOOKING_STATUS_CANCELLED, bookingFields } from "./booking.ts";
import { timestampOf } from "./timestamps.ts";

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

export const ChangePage = Type.Object(
  {
    data: Type.Array(Change),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description:
        "changedAt of the last change on the page if there are more, otherwise null. Send it back as cursor.",
      examples: ["2026-11-03T10:05:00.000Z"],
    }),
  },
  { title: "ChangePage" },
);
export type ChangePage = Static<typeof ChangePage>;
