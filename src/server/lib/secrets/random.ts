import { hkdfSync, randomBytes, randomFillSync } from "node:crypto";
import type { IdForm } from "#contract/ids.ts";
import { assert } from "../assert.ts";

/** The source of randomness; tests pass in a fixed one. */
export type Random = { bytes(count: number): Buffer };

export const systemRandom: Random = {
  bytes: (count) => (count <= POOLED_BYTES_MAX ? takePooled(count) : randomBytes(count)),
};

/** Only short ids come from the pool. Longer values may be secrets and get their own bytes. */
const POOLED_BYTES_MAX = 16;
const POOL_BYTES = 4096;

const pool = Buffer.alloc(POOL_BYTES);
let poolUsed = POOL_BYTES;

/** One call for many bytes takes as long as for sixteen, and every request needs an id. No byte is used twice. */
function takePooled(count: number): Buffer {
  if (poolUsed + count > POOL_BYTES) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  const bytes = Buffer.from(pool.subarray(poolUsed, poolUsed + count));
  pool.fill(0, poolUsed, poolUsed + count);
  poolUsed += count;
  return bytes;
}

/** Uniformly random letters: bytes past the last whole multiple are discarded, so that no letter is favoured. */
export function randomText(random: Random, alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    for (const byte of random.bytes(length - text.length)) {
      if (byte < limit) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}

export function randomId<Id extends string>(random: Random, form: IdForm): Id {
  // The cast is safe: the id was just generated in this form.
  return `${form.prefix}${randomText(random, form.alphabet, form.length)}` as Id;
}

/** Version 4, as in RFC 9562. */
export function randomUuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

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
