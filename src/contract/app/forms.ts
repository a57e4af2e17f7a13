import { type TSchema, Type } from "typebox";
import { PAGE_SIZE_MAX } from "../limits.ts";
import { Timestamp } from "../timestamps.ts";

// Schema parts that the dashboard API repeats.

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const NullableText = nullable(Type.String());
export const NullableInteger = nullable(Type.Integer());
export const NullableTimestamp = nullable(Timestamp);

/**
 * The changed fields with the values that the sender last saw. If one of them has changed since, the answer is 409 `conflict`
 * with the affected fields, and nothing is saved. Without it, the last change wins.
 */
export const Was = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

/** One of the given strings. */
export const oneOf = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.Enum([...words]));

/** A page of a list. */
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
