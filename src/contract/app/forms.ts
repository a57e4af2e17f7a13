import { type TObjectOptions, type TProperties, type TSchema, Type } from "typebox";
import { CONNECTION_ID, ENDPOINT_ID, type IdForm, toIdPattern, WIDGET_ID } from "../ids.ts";
import { EMAIL_PATTERN, PAGE_SIZE_MAX } from "../limits.ts";
import { NETWORK_PATTERN } from "../scopes.ts";
import { INSTANT_PATTERN, Timestamp } from "../timestamps.ts";

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const NullableText = nullable(Type.String());
export const NullableInteger = nullable(Type.Integer());
export const NullableTimestamp = nullable(Timestamp);

/** Changed fields as the sender last saw them. If one has changed since: 409 `conflict`, and nothing is saved. */
export const PreviousValues = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

const CONTROLS = "\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029";
const LINE_PATTERN = `^[^\\S${CONTROLS}]*[^\\s${CONTROLS}][^${CONTROLS}]*$`;
const OPTIONAL_LINE_PATTERN = `^[^${CONTROLS}]*$`;
export const COLOR_PATTERN = "^#[0-9A-Fa-f]{6}$";

/** What is expected instead of a text that a pattern refuses. */
export const PATTERN_WORDS: Readonly<Record<string, string>> = {
  [LINE_PATTERN]: "must be one line of text",
  [OPTIONAL_LINE_PATTERN]: "must be one line of text",
  [COLOR_PATTERN]: "must be a colour such as #4b45d6",
  [EMAIL_PATTERN]: "is not an email address",
  [NETWORK_PATTERN]: "must be an IP address such as 203.0.113.7, or a range such as 203.0.113.0/24",
  [INSTANT_PATTERN]: "must be an ISO 8601 date",
  [toIdPattern(WIDGET_ID)]: "must be a widget ID",
  [toIdPattern(ENDPOINT_ID)]: "must be an endpoint ID",
  [toIdPattern(CONNECTION_ID)]: "must be a connection ID",
};

/** Text on one line. Spaces around it are removed. */
export const line = (maxLength: number) => Type.String({ maxLength, pattern: LINE_PATTERN });
export const idOf = (form: IdForm) => Type.String({ pattern: toIdPattern(form) });
export const optionalLine = (maxLength: number) => Type.String({ maxLength, pattern: OPTIONAL_LINE_PATTERN });

/** What a program sends. A misspelled field is refused: ignored, it could send, show or delete more than was meant. */
export const bodyOf = <Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

/** One of the given strings. */
export const oneOf = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.Enum([...words]));

export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    data: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "Send it back as `cursor` to get the next page; null on the last page.",
    }),
  });

/** For lists that are short enough to be sent in one response. */
export const ListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: `Page size, 1 to ${PAGE_SIZE_MAX}. Larger values are treated as ${PAGE_SIZE_MAX}.`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      pattern: "^[0-9TZ:.-]{24}_[A-Za-z0-9_-]+$",
      description: "The `nextCursor` of the previous page.",
      examples: ["2026-11-01T09:30:00.000Z_we_4fTqD8sKmB2xPq7R"],
    }),
  ),
});
