import type { Config } from "./config.ts";
import type { Db } from "./db/pool.ts";
import type { Clock } from "./lib/clock.ts";
import type { Log } from "./lib/log.ts";
import type { Metrics } from "./lib/metrics.ts";
import type { Random } from "./lib/random.ts";

/** What the service works with. Functions ask for the parts they use: `Pick<Deps, "db" | "clock">`. */
export type Deps = {
  readonly config: Config;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
};
