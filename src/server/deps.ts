import type { Config } from "./config.ts";
import type { Listen } from "./db/connections/listen.ts";
import type { Db } from "./db/connections/pool.ts";
import type { Log } from "./lib/log/log.ts";
import type { Metrics } from "./lib/log/metrics.ts";
import type { Random } from "./lib/secrets/random.ts";
import type { Clock } from "./lib/time/clock.ts";

/**
 * Dependencies that every slice may use. Functions ask for the parts they need: `Pick<Deps, "db" | "clock">`. Each
 * slice declares its own additions (`WebhookDeps`, `SchedulerDeps`, `AccountsDeps`); create-deps.ts assembles all of
 * them.
 */
export type Deps = {
  readonly config: Config;
  readonly db: Db;
  /** The same database for long statements; `db` closes the connection of a statement that takes too long. */
  readonly longRunningDb: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly listen: Listen;
};
