import { hkdfSync } from "node:crypto";
import { assert } from "../assert.ts";
import type { Random } from "./random.ts";

const DERIVED_BYTES = 512;

/** The same source and purpose always give the same bytes, which are as hard to guess as the source. */
export function deriveRandom(source: string, purpose: string): Random {
  const derived = Buffer.from(hkdfSync("sha256", source, "bookflow", purpose, DERIVED_BYTES));
  let used = 0;
  return {
    bytes(count) {
      assert(used + count <= DERIVED_BYTES, "what is made is shorter than what is derived for it");
      used += count;
      return derived.subarray(used - count, used);
    },
  };
}
