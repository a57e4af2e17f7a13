import type { FastifyRequest } from "fastify";
import { EMAIL_LENGTH_MAX } from "#contract/book.ts";
import type { Config } from "../../config.ts";
import { toClientNetwork } from "../../http/client-network.ts";
import { limitStrangers, type RateLimiter, rateLimited } from "../../http/rate-limit.ts";
import type { Clock } from "../../lib/clock.ts";

export const TOO_MANY_ATTEMPTS = "Too many attempts. Please wait a minute, then try again.";
/** An office shares one address, nobody shares an account. */
const ACCOUNT_SHARE = 3;

/** Guard against guessing passwords, codes and links: so many attempts a minute from one address, and at one account. */
export class Throttle {
  readonly #clock: Clock;
  readonly #perAddress: RateLimiter | null;
  readonly #perAccount: RateLimiter | null;

  constructor({ config, clock }: { config: Pick<Config, "rateLimitSignInPerMinute">; clock: Clock }) {
    this.#clock = clock;
    const perMinute = config.rateLimitSignInPerMinute;
    this.#perAddress = limitStrangers(perMinute);
    this.#perAccount = limitStrangers(Math.ceil(perMinute / ACCOUNT_SHARE));
  }

  /** Throws `rate_limited`. Accounts that do not exist are counted like those that do. */
  take(request: FastifyRequest, email: string | null = null): void {
    this.#takeOne(this.#perAddress, toClientNetwork(request.ip));
    if (email !== null) this.#takeOne(this.#perAccount, email.trim().toLowerCase().slice(0, EMAIL_LENGTH_MAX));
  }

  #takeOne(limiter: RateLimiter | null, key: string): void {
    const verdict = limiter?.take(key, this.#clock.now());
    if (verdict?.isAllowed === false) throw rateLimited(verdict, TOO_MANY_ATTEMPTS);
  }
}
