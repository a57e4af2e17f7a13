import { createHash } from "node:crypto";
import { BASE62 } from "#contract/ids.ts";
import { type Random, randomText } from "../lib/random.ts";

const TOKEN_LENGTH = 43;

/** What stands in a link that works once; the database has only its hash. */
export function makeLinkToken(random: Random): { token: string; hash: Buffer } {
  const token = randomText(random, BASE62, TOKEN_LENGTH);
  return { token, hash: hashLinkToken(token) };
}

export function hashLinkToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
