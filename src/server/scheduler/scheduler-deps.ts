import type { ConnectionId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { limitByNetwork, type RateLimiter } from "../http/limits/rate-limit.ts";
import { RecentMap } from "../lib/recent-map.ts";
import { createSealer, type Sealer } from "../lib/secrets/sealed.ts";
import type { Cidr, ResolveHost } from "../sending/sending.ts";
import { AccountLimits } from "./account-limits.ts";
import { SCHEDULER_LIMITS, type SchedulerLimits } from "./limit-system.ts";
import { createOutbound, type Outbound } from "./outbound.ts";
import type { SchedulingSystem } from "./scheduling-system.ts";
import { SlotMemory } from "./shared-slots.ts";

export type SchedulerDeps = {
  readonly outbound: Outbound;
  readonly accountLimits: AccountLimits;
  /** For the credentials of connections. */
  readonly sealer: Sealer;
  readonly limits: SchedulerLimits;
  /** Public address of the service, for the sandbox's links. */
  readonly baseUrl: string;
  /** Per organization. */
  readonly maxConnections: number;
  readonly slotMemory: SlotMemory;
  /** Limits how many reads of available times from one network reach a scheduling system. Null: no limit. */
  readonly readsByNetwork: RateLimiter | null;
  /** Recently used connections with their tokens and services. A connection that was edited since is opened again. */
  readonly opened: RecentMap<ConnectionId, { readonly updatedAtMs: number; readonly system: SchedulingSystem }>;
};

export type OpenDeps = Pick<Deps, "db" | "clock" | "random" | "log"> & { readonly scheduler: SchedulerDeps };

const OPENED_MAX = 1_000;

export function createSchedulerDeps(
  deps: Pick<Deps, "clock" | "random"> & {
    config: Pick<Deps["config"], "baseUrl" | "docsUrl" | "rateLimitSchedulerPerMinute" | "maxConnections">;
    secretKey: string;
    resolve: ResolveHost;
    /** Private networks in which self-hosted systems are allowed. */
    allow: readonly Cidr[];
    nat64: readonly Cidr[];
  },
): SchedulerDeps {
  const { config, secretKey, clock, resolve, allow, nat64 } = deps;
  return {
    outbound: createOutbound({ clock, resolve, allow, nat64, docsUrl: config.docsUrl }),
    sealer: createSealer(deps, { secretKey, purpose: "scheduling credentials, version 1" }),
    limits: SCHEDULER_LIMITS,
    baseUrl: config.baseUrl,
    maxConnections: config.maxConnections,
    accountLimits: new AccountLimits(clock),
    slotMemory: new SlotMemory(),
    readsByNetwork: limitByNetwork(config.rateLimitSchedulerPerMinute),
    opened: new RecentMap(OPENED_MAX),
  };
}
