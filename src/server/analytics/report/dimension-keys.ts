import { type Dimension, NOT_SET } from "#contract/dimensions.ts";
import type { KeyKind } from "../record/key-id.ts";

/** Kinds that store "" where nothing is known. */
const EMPTY_KINDS: ReadonlySet<Dimension> = new Set(["page", "device", "country"]);

export function toStoredKey(dimension: KeyKind, key: string): string {
  return key === NOT_SET && EMPTY_KINDS.has(dimension) ? "" : key;
}

/** As it is shown and sent. */
export function toShownKey(key: string): string {
  return key === "" ? NOT_SET : key;
}
