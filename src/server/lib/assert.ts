/** For bugs, never for a caller's mistake: a failed assertion is answered with 500 and logged with its cause. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${why}`);
}
