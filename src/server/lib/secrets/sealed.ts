import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { assert } from "../assert.ts";
import { RecentMap } from "../recent-map.ts";
import type { Random } from "./random.ts";

// Secrets that must be read again are stored encrypted. A sealed text is version (1 byte) | nonce (12) | AES-256-GCM
// ciphertext | tag (16). It is bound to its version, its purpose and its row's id, so it cannot be opened anywhere
// else.

export type Sealer = {
  seal(id: string, text: string): Buffer;
  /** Null if it was sealed with another key, for another purpose or id, or is damaged. */
  open(id: string, sealed: Buffer): string | null;
};

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;

/** Each purpose has its own key, derived from SECRET_KEY. */
export function createSealer(deps: { random: Random }, options: { secretKey: string; purpose: string }): Sealer {
  assert(options.secretKey !== "", "SECRET_KEY is set before anything is sealed");
  const key = Buffer.from(hkdfSync("sha256", options.secretKey, "bookflow", options.purpose, KEY_BYTES));
  return {
    seal(id, text) {
      const nonce = deps.random.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(toBinding(id));
      const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, ciphertext, cipher.getAuthTag()]);
    },
    open(id, sealed) {
      if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return null;
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(toBinding(id))
        .setAuthTag(sealed.subarray(-TAG_BYTES));
      try {
        const ciphertext = sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES);
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
      } catch {
        // Only a tag mismatch throws here; the caller decides what a lost secret means.
        return null;
      }
    },
  };
}

/** Remembers what was opened lately: opening a signing secret takes longer than signing with it. */
export function rememberOpened(sealer: Sealer, capacity: number): Sealer {
  const opened = new RecentMap<string, string>(capacity);
  return {
    seal: sealer.seal,
    open(id, sealed) {
      const key = id + sealed.toString("latin1");
      const known = opened.get(key);
      if (known !== undefined) return known;
      const text = sealer.open(id, sealed);
      if (text !== null) opened.set(key, text);
      return text;
    },
  };
}

function toBinding(id: string): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(id, "utf8")]);
}
