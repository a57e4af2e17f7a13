import { type AccountsDeps, createAccountsDeps } from "./accounts/accounts-deps.ts";
import type { Config } from "./config.ts";
import { createListen, type Listen } from "./db/listen.ts";
import { type Db, openPatientDb, type Pool } from "./db/pool.ts";
import { watchPool } from "./db/watch-pool.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import type { Log } from "./lib/log.ts";
import { createMetrics, type Metrics } from "./lib/metrics.ts";
import { type Random, systemRandom } from "./lib/random.ts";
import { createSchedulerDeps, type SchedulerDeps } from "./scheduler/scheduler-deps.ts";
import { loadSecretKey } from "./secret-key.ts";
import { createWebhookDeps, type WebhookDeps } from "./webhooks/webhook-deps.ts";

/** What the service works with. Functions ask for the parts they use: `Pick<Deps, "db" | "clock">`. */
export type Deps = {
  readonly config: Config;
  readonly db: Db;
  /** The same, for what may take long: db gives up on a statement after some seconds. */
  readonly patientDb: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly webhooks: WebhookDeps;
  readonly scheduler: SchedulerDeps;
  readonly accounts: AccountsDeps;
  readonly listen: Listen;
};

export async function createDeps(parts: { config: Config; database: { db: Db; pool: Pool }; log: Log }): Promise<Deps> {
  const { config, log } = parts;
  const clock = systemClock;
  const random = systemRandom;
  const secretKey = await loadSecretKey({ random }, config);
  const webhooks = createWebhookDeps({ config, secretKey, clock, random });
  const { resolve, allow } = webhooks;
  const scheduler = createSchedulerDeps({ config, secretKey, resolve, allow, clock, random });
  const { db, pool } = parts.database;
  const listen = createListen({ pool, log });
  const metrics = createMetrics();
  const accounts = createAccountsDeps({ config, db, clock, random, log, metrics, secretKey });
  watchPool(metrics, pool);
  const patientDb = openPatientDb(pool);
  return { config, db, patientDb, clock, random, log, metrics, webhooks, scheduler, accounts, listen };
}
