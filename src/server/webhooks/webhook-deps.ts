import type { Config } from "../config.ts";
import { assert } from "../lib/assert.ts";
import type { Random } from "../lib/secrets/random.ts";
import { createSealer, rememberOpened, type Sealer } from "../lib/secrets/sealed.ts";
import type { Clock } from "../lib/time/clock.ts";
import { type Cidr, createSystemResolver, parseCidr, type ResolveHost } from "../sending/sending.ts";
import type { RetrySchedule } from "./delivery/retry-schedule.ts";
import { createGuardedSend, type GuardedSend } from "./request/guarded-send.ts";

/** What webhooks need besides the database. */
export type WebhookDeps = {
  readonly send: GuardedSend;
  /** Signing secrets are needed in plain text for signing, so they are sealed rather than hashed. */
  readonly secretBox: Sealer;
  /** The URL of a chat is a password to it. */
  readonly urlBox: Sealer;
  /** Custom request headers may hold passwords. */
  readonly headerBox: Sealer;
  readonly schedule: RetrySchedule;
  readonly resolve: ResolveHost;
  readonly allow: readonly Cidr[];
  readonly nat64: readonly Cidr[];
  /** How long a claimed delivery belongs to its worker. */
  readonly leaseMs: number;
};

/**
 * A lease lasts four request timeouts, a minute by default: a request starts only while half of the lease is left and takes at
 * most one timeout, which leaves one for writing the report and for clock differences between machines.
 */
const LEASE_TIMEOUTS = 4;
const LEASE_MS_MIN = 2_000;

const SECRETS_REMEMBERED = 2_000;

export function createWebhookDeps(deps: {
  config: Pick<
    Config,
    | "webhookTimeoutMs"
    | "webhookAllowCidrs"
    | "nat64Prefixes"
    | "webhookRetrySchedule"
    | "webhookRetryJitter"
    | "docsUrl"
  >;
  secretKey: string;
  clock: Clock;
  random: Random;
}): WebhookDeps {
  const { config } = deps;
  const resolve = createSystemResolver(deps.clock);
  const allow = config.webhookAllowCidrs.map(requireCidr);
  const nat64 = config.nat64Prefixes.map(requireCidr);
  return {
    resolve,
    allow,
    nat64,
    send: createGuardedSend({ resolve, allow, nat64, timeoutMs: config.webhookTimeoutMs, docsUrl: config.docsUrl }),
    secretBox: rememberOpened(
      createSealer(deps, { secretKey: deps.secretKey, purpose: "webhook signing secrets, version 1" }),
      SECRETS_REMEMBERED,
    ),
    urlBox: createSealer(deps, { secretKey: deps.secretKey, purpose: "chat URLs, version 1" }),
    headerBox: createSealer(deps, { secretKey: deps.secretKey, purpose: "webhook headers, version 1" }),
    schedule: { delaysSeconds: config.webhookRetrySchedule, jitterFraction: config.webhookRetryJitter },
    leaseMs: Math.max(LEASE_MS_MIN, LEASE_TIMEOUTS * config.webhookTimeoutMs),
  };
}

function requireCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  assert(cidr, "the setting was checked when it was read");
  return cidr;
}
