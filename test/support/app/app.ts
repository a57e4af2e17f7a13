import assert from "node:assert/strict";
import { after } from "node:test";
import type { FastifyInstance } from "fastify";
import { API_PREFIX } from "#contract/read-routes.ts";
import { createAccountsDeps } from "../../../src/server/accounts/accounts-deps.ts";
import { buildApp } from "../../../src/server/app.ts";
import { type Config, parseConfig } from "../../../src/server/config.ts";
import type { ServiceDeps } from "../../../src/server/create-deps.ts";
import { createListen } from "../../../src/server/db/connections/listen.ts";
import { openLongRunningDb } from "../../../src/server/db/connections/pool.ts";
import { createLog } from "../../../src/server/lib/log/log.ts";
import { createMetrics } from "../../../src/server/lib/log/metrics.ts";
import { systemRandom } from "../../../src/server/lib/secrets/random.ts";
import { createMail } from "../../../src/server/mail/mail.ts";
import { createSchedulerDeps } from "../../../src/server/scheduler/scheduler-deps.ts";
import { createWebhookDeps } from "../../../src/server/webhooks/webhook-deps.ts";
import { NOON } from "../builders.ts";
import { createTestDatabase } from "../database/database.ts";

export const TEST_SECRET_KEY = "a secret key for tests, of 32 characters and more";

/** A clock that stands still until a test moves it. */
export type TestClock = { now(): Date; set(instant: Date): void };

export function createTestClock(start = NOON): TestClock {
  let instant = start;
  return {
    now: () => instant,
    set(next) {
      instant = next;
    },
  };
}

export type TestApp = { app: FastifyInstance; deps: ServiceDeps; clock: TestClock; lines: string[]; url: string };

/** The whole service on its own database, answering real requests made in memory; its log lines are kept. */
export async function createTestApp(settings: Partial<Config> = {}): Promise<TestApp> {
  const { db, pool, url } = await createTestDatabase();
  const clock = createTestClock();
  const lines: string[] = [];
  const config = { ...parseConfig({}), ...settings };
  const log = createLog("debug", { write: (line) => lines.push(line) });
  const webhooks = createWebhookDeps({ config, secretKey: TEST_SECRET_KEY, clock, random: systemRandom });
  const { resolve, allow, nat64 } = webhooks;
  const metrics = createMetrics();
  const mail = createMail({ config, log, metrics });
  const deps: ServiceDeps = {
    config,
    db,
    longRunningDb: openLongRunningDb(pool),
    clock,
    random: systemRandom,
    log,
    listen: createListen(log),
    metrics,
    webhooks,
    mail,
    accounts: createAccountsDeps({ config, db, clock, random: systemRandom, log, mail, secretKey: TEST_SECRET_KEY }),
    scheduler: createSchedulerDeps({
      config,
      secretKey: TEST_SECRET_KEY,
      resolve,
      allow,
      nat64,
      clock,
      random: systemRandom,
    }),
  };
  const app = await buildApp(deps);
  after(async () => {
    await requireDescribed(app, metrics);
    await app.close();
  });
  return { app, deps, clock, lines, url };
}

/** Every status that a test got from an operation of openapi.json is described there. */
async function requireDescribed(app: FastifyInstance, { httpRequests }: ServiceDeps["metrics"]): Promise<void> {
  const { values } = await httpRequests.get();
  const seen = values.filter(({ metricName, labels }) => metricName?.endsWith("_count") && isKeyRoute(labels.route));
  if (seen.length === 0) return;
  const { paths = {} } = app.swagger() as unknown as { paths?: Record<string, Record<string, { responses: object }>> };
  for (const { labels } of seen) {
    const path = String(labels.route).replaceAll(/:(\w+)/g, "{$1}");
    const operation = paths[path]?.[String(labels.method).toLowerCase()];
    assert.ok(!operation || String(labels.status) in operation.responses, `${labels.method} ${path}: ${labels.status}`);
  }
}

function isKeyRoute(route: unknown): boolean {
  return String(route).startsWith(`${API_PREFIX}/`);
}
