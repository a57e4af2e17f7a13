import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { EndpointId } from "#contract/ids.ts";
import { assert } from "../lib/assert.ts";
import type { Random } from "../lib/random.ts";

// Signing secrets must sign again, so they are stored encrypted rather than hashed. A sealed secret is
//   version (1 byte) | nonce (12) | AES-256-GCM ciphertext | tag (16)
// and is bound to its version and its endpoint: copied into another endpoint's row, it does not open.

export type SecretBox = {
  seal(endpointId: EndpointId, secret: string): Buffer;
  /** Null when it was sealed with another key, for another endpoint, or was damaged. */
  open(endpointId: EndpointId, sealed: Buffer): string | null;
};

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSecretBox(deps: { random: Random }, secretKey: string): SecretBox {
  assert(secretKey !== "", "SECRET_KEY is set before a secret box is made");
  const key = deriveKey(secretKey);
  return {
    seal(endpointId, secret) {
      const nonce = deps.random.bytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(toAssociatedData(endpointId));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, ciphertext, cipher.getAuthTag()]);
    },
    open(endpointId, sealed) {
      if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return null;
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const ciphertext = sealed.subarray(1 + NONCE_BYTES, sealed.length - TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(toAssociatedData(endpointId));
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
      } catch {
        // The only thing that throws here is the tag not matching; the caller decides what a lost secret means.
        return null;
      }
    },
  };
}

/** A key of its own for this use: the same SECRET_KEY may protect other things under another `info`. */
function deriveKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secretKey, "bookflow", "webhook signing secrets, version 1", 32));
}

function toAssociatedData(endpointId: EndpointId): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(endpointId, "utf8")]);
}
