import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Config } from "../../config.ts";
import type { Random } from "../../lib/secrets/random.ts";

// A browser that has signed in to an account keeps a signed cookie that says so. Strangers who guess the account's password use up
// the account's and their network's attempts. A known browser has its own, so it can still sign in. The cookie alone gives no
// access. Its value is the browser's id, a hash of the account, and a signature of both.

const KEY_BYTES = 32;
const ID_BYTES = 16;
const MAX_AGE_SECONDS = 400 * 24 * 3600;
const COOKIE_VALUE = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

export class DeviceCookie {
  readonly #key: Buffer;
  readonly #random: Random;
  readonly #name: string;
  readonly #attributes: string;

  constructor(parts: { config: Pick<Config, "baseUrl">; secretKey: string; random: Random }) {
    const isHttps = parts.config.baseUrl.startsWith("https:");
    this.#key = Buffer.from(hkdfSync("sha256", parts.secretKey, "bookflow", "known devices", KEY_BYTES));
    this.#random = parts.random;
    this.#name = `${isHttps ? "__Host-bookflow" : "bookflow"}.device`;
    this.#attributes = `Max-Age=${MAX_AGE_SECONDS}; Path=/; HttpOnly; SameSite=Lax${isHttps ? "; Secure" : ""}`;
  }

  /** The Set-Cookie line for a browser that has just signed in to this account. */
  make(email: string): string {
    const id = this.#random.bytes(ID_BYTES).toString("base64url");
    const account = this.#toAccount(email);
    const signature = this.#sign(`${id}.${account}`).toString("base64url");
    return `${this.#name}=${id}.${account}.${signature}; ${this.#attributes}`;
  }

  /** The device's id if it has signed in to this account before, else null. */
  read(cookies: string | undefined, email: string): string | null {
    const known = this.#readGenuine(cookies);
    return known?.account === this.#toAccount(email) ? known.id : null;
  }

  /** A hash of the account that the device has signed in to, or null. For attempts that name no account. */
  readAccount(cookies: string | undefined): string | null {
    return this.#readGenuine(cookies)?.account ?? null;
  }

  #readGenuine(cookies: string | undefined): { id: string; account: string } | null {
    const prefix = `${this.#name}=`;
    const pair = cookies?.split("; ").find((each) => each.startsWith(prefix));
    const [, id, account, signature] = COOKIE_VALUE.exec(pair?.slice(prefix.length) ?? "") ?? [];
    if (id === undefined || account === undefined || signature === undefined) return null;
    const isGenuine = timingSafeEqual(Buffer.from(signature, "base64url"), this.#sign(`${id}.${account}`));
    return isGenuine ? { id, account } : null;
  }

  #toAccount(email: string): string {
    return this.#sign(`account ${email.trim().toLowerCase()}`).toString("base64url");
  }

  #sign(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }
}
