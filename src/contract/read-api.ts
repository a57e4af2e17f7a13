import { Type } from "typebox";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "./limits.ts";

// The read API's query parameters as OpenAPI describes them. server/http/parameters.ts decides what is valid.

const instant = (description: string) =>
  Type.Optional(
    Type.String({
      description: `${description} A date, or a date and time with Z, an offset, or none (UTC).`,
      examples: ["2026-11-01T09:30:00.000Z"],
    }),
  );

const widget = Type.Optional(
  Type.String({ description: "Only this widget. 404 when it is not one of yours.", examples: ["w_4fTqD8sKmB2x"] }),
);

const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    default: PAGE_SIZE_DEFAULT,
    description: `Page size, 1 to ${PAGE_SIZE_MAX}. Larger values are treated as ${PAGE_SIZE_MAX}.`,
  }),
);

export const BookingsQuery = Type.Object({
  since: instant("Bookings created at or after this time."),
  until: instant("Bookings created before this time."),
  widget,
  limit,
  cursor: instant("The nextCursor of the previous page. When set, it replaces until."),
});

export const DeletionsQuery = Type.Object({
  since: instant("Bookings deleted at or after this time."),
  limit,
  cursor: instant("The nextCursor of the previous page."),
});

export const AnalyticsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WINDOW_DAYS_MAX,
      default: WINDOW_DAYS_DEFAULT,
      description: "Look-back window ending now, in days of the organization's time zone.",
    }),
  ),
  widget,
});
