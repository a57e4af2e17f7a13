import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";

export type Shape<T> = {
  Check(value: unknown): value is T;
  Errors(value: unknown): TLocalizedValidationError[];
};

/** Compiles the schema when the first value is checked: compiling all at start would slow every command. */
export function shapeOf<Schema extends TSchema>(schema: Schema): Shape<Static<Schema>> {
  let compiled: Validator<Record<never, never>, Schema> | null = null;
  const compile = () => {
    compiled ??= Compile(schema);
    return compiled;
  };
  return {
    Check: (value): value is Static<Schema> => compile().Check(value),
    Errors: (value) => compile().Errors(value),
  };
}
