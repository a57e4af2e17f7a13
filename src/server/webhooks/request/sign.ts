import { createHmac } from "node:crypto";
import { SIGNING_SECRET_BYTES, SIGNING_SECRET_PREFIX } from "#contract/endpoint.ts";
import type { Random } from "../../lib/random.ts";

/** One secret, or the new and the old one while a rotation overlaps. */
export type SigningSecrets = readonly [current: string] | readonly [current: string, previous: string];

/**
 * The value of Service-Signature: `t=<unix seconds>,v1=<hex>`, with a second `v1=` while two secrets are valid.
 * `body` must be the bytes that are sent, and `at` the time of sending: receivers refuse a `t` older than 300 seconds.
 */
export function signBody(input: { secrets: SigningSecrets; body: Buffer; at: Date }): string {
  const unixSeconds = Math.floor(input.at.getTime() / 1_000);
  const signatures = input.secrets.map((secret) => `v1=${toSignature(secret, unixSeconds, input.body)}`);
  return [`t=${unixSeconds}`, ...signatures].join(",");
}

export function makeSigningSecret(random: Random): string {
  return SIGNING_SECRET_PREFIX + random.bytes(SIGNING_SECRET_BYTES).toString("base64url");
}

function toSignature(secret: string, unixSeconds: number, body: Buffer): string {
  return createHmac("sha256", secret).update(`${unixSeconds}.`).update(body).digest("hex");
}
