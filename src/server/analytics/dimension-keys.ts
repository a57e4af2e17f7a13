import { type Dimension, type FilterDimension, NOT_SET } from "#contract/dimensions.ts";
import { KEY_KINDS, type KeyKind } from "../funnel/record/key-id.ts";

/** Whether the dimension's texts are in funnel_keys under a number. */
export function isKeyed(dimension: FilterDimension): dimension is KeyKind {
  return (KEY_KINDS as readonly string[]).includes(dimension);
}

/** Kinds that store "" where nothing is known. */
const EMPTY_KINDS: ReadonlySet<Dimension> = new Set(["page", "device", "country"]);

export function toStoredKey(dimension: KeyKind, key: string): string {
  return key === NOT_SET && EMPTY_KINDS.has(dimension) ? "" : key;
}

/** As it is shown and sent. */
export function toShownKey(key: string): string {
  return key === "" ? NOT_SET : key;
}
