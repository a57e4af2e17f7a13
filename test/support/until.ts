import assert from "node:assert/strict";

const LOOK_AGAIN_MS = 5;
/** Proves nothing: a wait in vain ends with words about what it waited for, not with the run's limit. */
const GIVE_UP_MS = 120_000;

/** Resolves as soon as the condition holds. For events in other loops and processes; everything else is awaited. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    assert.ok(performance.now() - startedAt < GIVE_UP_MS, `waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}
