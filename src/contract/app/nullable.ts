import { type TSchema, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";

// Forms that the shapes of the dashboard API repeat.

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

export const NullableText = nullable(Type.String());
export const NullableInteger = nullable(Type.Integer());
export const NullableTimestamp = nullable(Timestamp);

/** One of these words. */
export const oneOf = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.Enum([...words]));
