import { useEffect } from "preact/hooks";

/** Acts after the first drawing, and whenever one of `changed` is another than before; never for what else it uses. */
// biome-ignore lint/suspicious/noConfusingVoidType: an effect returns its clean-up or nothing, as in Preact
export function useWhen(changed: readonly unknown[], act: () => void | (() => void)): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller says on what it depends
  useEffect(act, [...changed]);
}
