import { type TSchema, Type } from "typebox";
import {
  CHANNELS,
  DEVICES,
  DIMENSIONS,
  type Dimension,
  FILTER_LENGTH_MAX,
  FILTER_VALUES_MAX,
  NOT_SET,
  TIME_KEYS,
  type TimeDimension,
  toNegatedName,
} from "./dimensions.ts";
import { CHOSEN_EVENT_TYPES } from "./endpoint.ts";
import { WIDGET_ID_PATTERN } from "./ids.ts";
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, WINDOW_DAYS_DEFAULT, WINDOW_DAYS_MAX } from "./limits.ts";
import { DAY_PATTERN, INSTANT_PATTERN } from "./timestamps.ts";

// The read API's query parameters as OpenAPI describes them. server/http/parameters.ts decides what is valid.

const instant = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: INSTANT_PATTERN,
      description: `${description} A date, or a date and time. UTC is assumed without an offset.`,
      examples: ["2026-11-01T09:30:00.000Z"],
    }),
  );

const widget = Type.Optional(
  Type.String({
    pattern: WIDGET_ID_PATTERN,
    description: "Only this widget. 404 when it is not one of yours.",
    examples: ["w_4fTqD8sKmB2x"],
  }),
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
  cursor: instant("The `nextCursor` of the previous page, unchanged. Replaces `until`."),
});

export const DeletionsQuery = Type.Object({
  since: instant("Bookings deleted at or after this time."),
  limit,
  cursor: instant("The `nextCursor` of the previous page, unchanged."),
});

export const EventsQuery = Type.Object({
  since: instant("Events created at or after this time, for the first request. Ignored if there is a cursor."),
  type: Type.Optional(Type.Enum([...CHOSEN_EVENT_TYPES], { description: "Only events of this type." })),
  limit,
  cursor: instant("The `nextCursor` of an earlier page, unchanged."),
});

export const ChangesQuery = Type.Object({
  since: instant("Changes recorded at or after this time."),
  limit,
  cursor: instant("The `nextCursor` of the previous page, unchanged."),
});

export const AnalyticsQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WINDOW_DAYS_MAX,
      default: WINDOW_DAYS_DEFAULT,
      description: "Number of days up to and including today, in the organization's time zone.",
    }),
  ),
  widget,
});

const day = (description: string) => Type.Optional(Type.String({ format: "date", pattern: DAY_PATTERN, description }));

const keys = (dimension: Dimension, description: string) =>
  Type.Optional(Type.Array(toKeySchema(dimension), { maxItems: FILTER_VALUES_MAX, description }));

function toKeySchema(dimension: Dimension): TSchema {
  switch (dimension) {
    case "channel":
      return Type.Enum([...CHANNELS]);
    case "device":
      return Type.Enum([...DEVICES, NOT_SET]);
    case "country":
      return Type.String({ pattern: "^([A-Za-z]{2}|\\(not set\\))$", examples: ["DE"] });
    case "widget":
      return Type.String({ pattern: WIDGET_ID_PATTERN });
    default:
      return Type.String({ minLength: 1, maxLength: FILTER_LENGTH_MAX, pattern: "^[^\\u0000]*$" });
  }
}

const filters = Object.fromEntries(
  DIMENSIONS.flatMap((dimension) => [
    [dimension, keys(dimension, `${describeFilter(dimension).only} Repeat the parameter for several values.`)],
    [
      toNegatedName(dimension),
      keys(dimension, `${describeFilter(dimension).not} Repeat the parameter for several values.`),
    ],
  ]),
);

function describeFilter(dimension: Dimension): { only: string; not: string } {
  return dimension === "service"
    ? {
        only: "Only bookings of this service, and the visits that made them.",
        not: "Excludes bookings of this service, and visits that made no others.",
      }
    : { only: `Only visits with this ${dimension}.`, not: `Excludes visits with this ${dimension}.` };
}

const timeKeys = (dimension: TimeDimension, description: string) =>
  Type.Optional(
    Type.Array(Type.Enum([...TIME_KEYS[dimension]]), {
      maxItems: FILTER_VALUES_MAX,
      description: `${description} Repeat the parameter for several values.`,
    }),
  );

const timeFilters = {
  weekday: timeKeys("weekday", "Only views and bookings on this weekday, in the organization's time zone."),
  notWeekday: timeKeys("weekday", "Excludes views and bookings on this weekday."),
  hour: timeKeys("hour", "Only views and bookings in this hour of the day, in the organization's time zone."),
  notHour: timeKeys("hour", "Excludes views and bookings in this hour of the day."),
  leadTime: timeKeys("leadTime", "Only bookings made this many days before the appointment, and their visits."),
  notLeadTime: timeKeys(
    "leadTime",
    "Excludes bookings made this many days before the appointment, and visits that made no others.",
  ),
};

export const BreakdownQuery = Type.Object({
  dimension: Type.Enum([...DIMENSIONS], { description: "The dimension to list." }),
  days: AnalyticsQuery.properties.days,
  from: day("First day, for example 2026-11-01, and not after `to` or today. Not together with `days`."),
  to: day("Last day, included, for example 2026-11-30. Default: today. Not together with `days`."),
  ...filters,
  ...timeFilters,
  limit: BookingsQuery.properties.limit,
  cursor: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]+$",
      description:
        "The `nextCursor` of the previous page, unchanged. Dimension, days and filters must be the same as on that page.",
    }),
  ),
});
