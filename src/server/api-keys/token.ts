import { createHash } from "node:crypto";
import { BASE62 } from "#contract/ids.ts";
import { type Random, randomText } from "../lib/secrets/random.ts";

// A key is `svc_live_` and 40 characters; the last 6 are a checksum of everything before them. So a mistyped or invented key
// is refused without asking the database, and secret scanners can recognise a leaked key.

const API_KEY_PREFIX = "svc_live_";
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;

export function makeApiKey(random: Random): string {
  const body = API_KEY_PREFIX + randomText(random, BASE62, RANDOM_LENGTH);
  return body + checksum(body);
}

export function isApiKey(text: string): boolean {
  if (!/^svc_live_[0-9A-Za-z]{40}$/.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.slice(-CHECKSUM_LENGTH) === checksum(body);
}

/** Found by an index: timing the lookup could reveal a hash at most, and no key follows from a hash. */
export function hashApiKey(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** What lists show of a key: four characters from each end. */
export function toDisplayParts(key: string): { first: string; last: string } {
  const characters = key.slice(API_KEY_PREFIX.length);
  return { first: characters.slice(0, 4), last: characters.slice(-4) };
}

function checksum(body: string): string {
  let rest = createHash("sha256").update(body).digest().readUIntBE(0, 6);
  let text = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    text += BASE62.charAt(rest % BASE62.length);
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}
