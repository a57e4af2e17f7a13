import { type FixedText, LoggableError } from "./log/loggable-error.ts";

class AssertionFailed<const T extends string> extends LoggableError<T> {
  override name = "AssertionFailed";
}

/** For bugs, never for a caller's mistake: a failed assertion is answered with 500 and logged with its cause. */
export function assert<const T extends string>(condition: unknown, why: FixedText<T>): asserts condition {
  if (!condition) throw new AssertionFailed<T>(why);
}
