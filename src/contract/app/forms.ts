import { type TSchema, Type } from "typebox";
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
