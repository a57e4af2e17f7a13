import { createHmac } from "node:crypto";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const PERIOD_MS = 30_000;

/** The code an authenticator app shows for an otpauth:// URL (RFC 6238: SHA-1, six digits, 30 seconds). */
export function toTotpCode(uri: string, at: Date): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at.getTime() / PERIOD_MS)));
  const digest = createHmac("sha1", decodeBase32(new URL(uri).searchParams.get("secret") ?? ""))
    .update(counter)
    .digest();
  const offset = digest.readUInt8(digest.length - 1) & 0x0f;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

function decodeBase32(text: string): Buffer {
  const bits = [...text.replace(/=+$/, "")]
    .map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0"))
    .join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
