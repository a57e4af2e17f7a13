import { createHash } from "node:crypto";
import { BASE62 } from "#contract/ids.ts";
import { type Random, randomText } from "../../lib/secrets/random.ts";

const TOKEN_LENGTH = 43;
/** Hashed together with the token, so nobody can strip the prefix. */
const SHOWN = "shown_";

/** The token of a link that works once. The database stores only its hash. */
export function makeLinkToken(random: Random): { token: string; hash: Buffer } {
  const token = randomText(random, BASE62, TOKEN_LENGTH);
  return { token, hash: hashLinkToken(token) };
}

/** For a link that is shown instead of emailed. Opening it does not verify an email address. */
export function makeShareableLinkToken(random: Random): { token: string; hash: Buffer } {
  const token = SHOWN + randomText(random, BASE62, TOKEN_LENGTH);
  return { token, hash: hashLinkToken(token) };
}

export function isShareableLinkToken(token: string): boolean {
  return token.startsWith(SHOWN);
}

export function hashLinkToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
