import type { FastifyRequest } from "fastify";
import { EMAIL_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import type { Config } from "../../config.ts";
import { toClientNetwork } from "../../http/limits/client-network.ts";
import { limitByNetwork, type RateLimiter, rateLimited } from "../../http/limits/rate-limit.ts";
import type { Clock } from "../../lib/time/clock.ts";

export const TOO_MANY_ATTEMPTS = "Too many attempts. Try again in a minute.";
/** An office shares one network; for one account, each network and each device gets a third of that. */
const ACCOUNT_SHARE = 3;
/** How many networks' worth of attempts one account gets in total: a limit on guesses that come from everywhere. */
const NETWORKS_PER_ACCOUNT = 10;

/** `email` is null for attempts that name no account, such as a code after the password. */
export type Attempt = { email: string | null; knownDevice: string | null };

/** Limits attempts per network, per account and network, and per account. A known device has only its own limit. */
export class Throttle {
  readonly #clock: Clock;
  readonly #perNetwork: RateLimiter | null;
  readonly #perAccountAndNetwork: RateLimiter | null;
  readonly #perAccount: RateLimiter | null;
  readonly #perDevice: RateLimiter | null;

  constructor({ config, clock }: { config: Pick<Config, "rateLimitSignInPerMinute">; clock: Clock }) {
    this.#clock = clock;
    const perMinute = config.rateLimitSignInPerMinute;
    const perAccount = Math.ceil(perMinute / ACCOUNT_SHARE);
    this.#perNetwork = limitByNetwork(perMinute);
    this.#perAccountAndNetwork = limitByNetwork(perAccount);
    this.#perAccount = limitByNetwork(perAccount * NETWORKS_PER_ACCOUNT);
    this.#perDevice = limitByNetwork(perAccount);
  }

  /** Throws `rate_limited`. Accounts that do not exist are counted like those that do. */
  take(request: FastifyRequest, attempt: Attempt = { email: null, knownDevice: null }): void {
    if (attempt.knownDevice !== null) {
      this.#takeOne(this.#perDevice, attempt.knownDevice);
      return;
    }
    const network = toClientNetwork(request.ip);
    this.#takeOne(this.#perNetwork, network);
    if (attempt.email === null) return;
    const account = attempt.email.trim().toLowerCase().slice(0, EMAIL_LENGTH_MAX);
    this.#takeOne(this.#perAccountAndNetwork, `${account} ${network}`);
    this.#takeOne(this.#perAccount, account);
  }

  #takeOne(limiter: RateLimiter | null, key: string): void {
    const verdict = limiter?.take(key, this.#clock.now());
    if (verdict?.isAllowed === false) throw rateLimited(verdict, TOO_MANY_ATTEMPTS);
  }
}
