import { useLayoutEffect } from "preact/hooks";

/**
 * Runs on the first render and whenever one of `changed` changes, but not for other values it uses. It runs before the
 * browser paints, so that the focus has moved before a fast typist's next key.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: an effect returns its clean-up or nothing, as in Preact
export function useWhen(changed: readonly unknown[], act: () => void | (() => void)): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says on what it depends
  useLayoutEffect(act, [...changed]);
}
