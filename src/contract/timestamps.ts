import { type TSchema, Type } from "typebox";

const LEAP_YEAR = "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)";
const YEAR = "(?:[1-9]\\d{3}|0[1-9]\\d\\d|00[1-9]\\d|000[1-9])";
const MONTH_AND_DAY =
  "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))";
const DAY = `(?:${YEAR}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)`;
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?";
const ZONE = "(?:[Zz]|[+\\- ](?:[01]\\d|2[0-3])(?::?[0-5]\\d)?)";

/** For descriptions: exactly what server/lib/time/iso-instant.ts reads. */
export const INSTANT_PATTERN = `^${DAY}(?:[Tt]${TIME}${ZONE}?)?$`;
/** For descriptions: a calendar day from 1970 on. */
export const DAY_PATTERN = `^(?:(?:19[7-9]|[2-9]\\d\\d)\\d-${MONTH_AND_DAY}|(?:19(?:[79][26]|8[048])|[2-9]\\d(?:0[48]|[2468][048]|[13579][26])|(?:[2468][048]|[3579][26])00)-02-29)$`;

const FORM = "ISO 8601 in UTC with milliseconds.";

export const Timestamp = Type.String({
  description: FORM,
  format: "date-time",
  examples: ["2026-11-01T09:30:00.000Z"],
});

/** A timestamp with its own description and example. */
export const timestampOf = (meaning: string, example: string): typeof Timestamp =>
  Type.String({ ...Timestamp, description: `${meaning} ${FORM}`, examples: [example] });

/** A page of things that are ordered by an instant, which is the cursor. `last` names it: "createdAt of the last booking". */
export const pageByTime = <Item extends TSchema>(item: Item, page: { title: string; last: string; example: string }) =>
  Type.Object(
    {
      data: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()], {
        description: `${page.last} on the page if there are more, otherwise null. Send it back as cursor.`,
        examples: [page.example],
      }),
    },
    { title: page.title },
  );
