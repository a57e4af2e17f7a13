import { type TSchema, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";

// Forms that the shapes of the dashboard API repeat.

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const NullableText = nullable(Type.String());
export const NullableInteger = nullable(Type.Integer());
export const NullableTimestamp = nullable(Timestamp);

/**
 * For changes that two people may make at once: the fields that are changed, as the sender last saw them. Where one of them
 * is something else by now, nothing is changed: 409 `conflict`, with the fields that it is about. Left out, the last one wins.
 */
export const Was = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

/** One of these words. */
export const oneOf = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.Enum([...words]));
