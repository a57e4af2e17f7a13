/** For bugs, never for a caller's mistake: what fails here is answered 500 and logged with its cause. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${why}`);
}
