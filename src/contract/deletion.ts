import { type Static, Type } from "typebox";
import { bookingFields } from "./booking.ts";
import { timestampOf } from "./timestamps.ts";

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

export const DeletionPage = Type.Object(
  {
    data: Type.Array(Deletion),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "deletedAt of the last deletion on the page when more exist, else null. Send it back as cursor.",
      examples: ["2026-11-03T16:20:00.000Z"],
    }),
  },
  { title: "DeletionPage" },
);
export type DeletionPage = Static<typeof DeletionPage>;
