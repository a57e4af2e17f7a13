import { createHmac } from "node:crypto";
import { SIGNING_SECRET_BYTES, SIGNING_SECRET_PREFIX } from "#contract/webhooks/endpoint.ts";
import type { Random } from "../../lib/secrets/random.ts";

// Every request is signed twice with the same secret: as the contract says (Service-Signature), and as the Standard Webhooks
// specification says (webhook-signature), so that its libraries can verify us. `body` must be the bytes that are sent, and `at`
// the time of sending: receivers refuse one that is too far from theirs.

/** One secret, or the new and the old one while a rotation overlaps. */
export type SigningSecrets = readonly [current: string] | readonly [current: string, previous: string];

/** The value of Service-Signature: `t=<unix seconds>,v1=<hex>`, with a second `v1=` while two secrets are valid. */
export function signBody(input: { secrets: SigningSecrets; body: Buffer; at: Date }): string {
  const unixSeconds = toUnixSeconds(input.at);
  const signatures = input.secrets.map(
    (secret) => `v1=${createHmac("sha256", secret).update(`${unixSeconds}.`).update(input.body).digest("hex")}`,
  );
  return [`t=${unixSeconds}`, ...signatures].join(",");
}

/** The value of webhook-signature: `v1,<base64>`, with a second one after a space while two secrets are valid. */
export function signStandard(input: { secrets: SigningSecrets; eventId: string; body: Buffer; at: Date }): string {
  const start = `${input.eventId}.${toUnixSeconds(input.at)}.`;
  const sign = (secret: string) => createHmac("sha256", toKeyBytes(secret)).update(start).update(input.body);
  return input.secrets.map((secret) => `v1,${sign(secret).digest("base64")}`).join(" ");
}

export function toUnixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}

export function makeSigningSecret(random: Random): string {
  return SIGNING_SECRET_PREFIX + random.bytes(SIGNING_SECRET_BYTES).toString("base64");
}

/** Secrets made before version 1.1 are base64url, which Node's decoder also reads; most libraries don't. */
function toKeyBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(SIGNING_SECRET_PREFIX.length), "base64");
}
