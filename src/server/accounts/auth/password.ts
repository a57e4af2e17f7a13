import { type Argon2Parameters, argon2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { Random } from "../../lib/secrets/random.ts";

// Passwords are stored as argon2id hashes in the PHC string format. Each hash names its own costs, so the costs can be raised
// later while older hashes keep working.

/** The option with the least memory among the equally strong ones of the OWASP Password Storage Cheat Sheet. */
const COSTS = { memory: 7_168, passes: 5, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

const derive = promisify(argon2) as (algorithm: "argon2id", parameters: Argon2Parameters) => Promise<Buffer>;

export async function hashPassword(deps: { random: Random }, password: string): Promise<string> {
  const nonce = deps.random.bytes(SALT_BYTES);
  const hash = await derive("argon2id", { ...COSTS, message: toMessage(password), nonce, tagLength: HASH_BYTES });
  const costs = `m=${COSTS.memory},t=${COSTS.passes},p=${COSTS.parallelism}`;
  return `$argon2id$v=19$${costs}$${toBase64(nonce)}$${toBase64(hash)}`;
}

export async function verifyPassword({ hash, password }: { hash: string; password: string }): Promise<boolean> {
  const [, memory, passes, parallelism, salt = "", expected = ""] = PHC.exec(hash) ?? [];
  const wanted = Buffer.from(expected, "base64");
  if (wanted.length === 0) return false;
  const got = await derive("argon2id", {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    message: toMessage(password),
    nonce: Buffer.from(salt, "base64"),
    tagLength: wanted.length,
  });
  return timingSafeEqual(got, wanted);
}

/** Keyboards differ in whether é is one character or two. */
function toMessage(password: string): Buffer {
  return Buffer.from(password.normalize("NFKC"), "utf8");
}

function toBase64(bytes: Buffer): string {
  return bytes.toString("base64").replace(/=+$/, "");
}
