import { useLayoutEffect } from "preact/hooks";

/**
 * Acts with the first drawing, and whenever one of `changed` is another than before; never for what else it uses. At once, not
 * after the browser has drawn: whoever types on without looking must find the focus where it belongs.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: an effect returns its clean-up or nothing, as in Preact
export function useWhen(changed: readonly unknown[], act: () => void | (() => void)): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says on what it depends
  useLayoutEffect(act, [...changed]);
}
