import type { Pool } from "../../../src/server/db/connections/pool.ts";
import { createLog } from "../../../src/server/lib/log/log.ts";
import { systemRandom } from "../../../src/server/lib/secrets/random.ts";
import { createSchedulerDeps, type OpenDeps } from "../../../src/server/scheduler/scheduler-deps.ts";
import { createTestClock, TEST_SECRET_KEY, type TestClock } from "../app/app.ts";
import { createTestDatabase } from "../database/database.ts";
import { createTestOutbound } from "./outbound.ts";

/** For tests: a scheduling system's dependencies, with their own database. Log lines are kept. */
export async function createOpenDeps(): Promise<{
  deps: OpenDeps;
  clock: TestClock;
  pool: Pool;
  url: string;
  lines: string[];
}> {
  const { db, pool, url } = await createTestDatabase();
  const clock = createTestClock();
  const lines: string[] = [];
  const log = createLog("debug", { write: (line) => lines.push(line) });
  const scheduler = createSchedulerDeps({
    config: {
      baseUrl: "https://book.example.com",
      docsUrl: "https://docs.example",
      rateLimitSchedulerPerMinute: 0,
      maxConnections: 50,
    },
    secretKey: TEST_SECRET_KEY,
    resolve: async () => ({ kind: "not_found" }),
    allow: [],
    nat64: [],
    clock,
    random: systemRandom,
  });
  const deps: OpenDeps = {
    db,
    clock,
    random: systemRandom,
    log,
    scheduler: { ...scheduler, outbound: createTestOutbound(clock) },
  };
  return { deps, clock, pool, url, lines };
}
