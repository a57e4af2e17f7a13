import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import type { TLocalizedValidationError } from "typebox/error";

export type Shape<T> = {
  Check(value: unknown): value is T;
  Errors(value: unknown): TLocalizedValidationError[];
};

/**
 * Compiles the schema when the first value is checked. Compiling all of them at start would add a sixth to a command's start-up
 * time.
 */
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
