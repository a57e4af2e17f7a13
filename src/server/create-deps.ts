import { type AccountsDeps, createAccountsDeps } from "./accounts/accounts-deps.ts";
import type { Config } from "./config.ts";
import { createListen } from "./db/connections/listen.ts";
import { type Db, openLongRunningDb, type Pool } from "./db/connections/pool.ts";
import { watchPool } from "./db/connections/watch-pool.ts";
import type { Deps } from "./deps.ts";
import type { Log } from "./lib/log/log.ts";
import { createMetrics } from "./lib/log/metrics.ts";
import { systemRandom } from "./lib/secrets/random.ts";
import { systemClock } from "./lib/time/clock.ts";
import { createMail, type Mail } from "./mail/mail.ts";
import { createSchedulerDeps, type SchedulerDeps } from "./scheduler/scheduler-deps.ts";
import { loadSecretKey } from "./secret-key.ts";
import { createWebhookDeps, type WebhookDeps } from "./webhooks/webhook-deps.ts";

/** Everything that app.ts, worker.ts and the command line hand to the slices. */
export type ServiceDeps = Deps & {
  readonly mail: Mail;
  readonly accounts: AccountsDeps;
  readonly scheduler: SchedulerDeps;
  readonly webhooks: WebhookDeps;
};

export async function createDeps(parts: {
  config: Config;
  database: { db: Db; pool: Pool };
  log: Log;
}): Promise<ServiceDeps> {
  const { config, log } = parts;
  const clock = systemClock;
  const random = systemRandom;
  const secretKey = await loadSecretKey({ random }, config);
  const webhooks = createWebhookDeps({ config, secretKey, clock, random });
  const { resolve, allow, nat64 } = webhooks;
  const { db, pool } = parts.database;
  const scheduler = createSchedulerDeps({ config, secretKey, resolve, allow, nat64, clock, random });
  const metrics = createMetrics();
  watchPool(metrics, pool);
  const mail = createMail({ config, log, metrics });
  return {
    config,
    db,
    longRunningDb: openLongRunningDb(pool),
    clock,
    random,
    log,
    metrics,
    listen: createListen(log),
    mail,
    accounts: createAccountsDeps({ config, db, clock, random, log, mail, secretKey }),
    scheduler,
    webhooks,
  };
}
