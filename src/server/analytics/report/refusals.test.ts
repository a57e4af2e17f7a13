import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeCaller } from "../../../../test/support/app/read-api.ts";
import { untilSomeoneWaits } from "../../../../test/support/database/count-blocked.ts";
import { whileLocked } from "../../../../test/support/database/while-locked.ts";
import { makeHit } from "../../../../test/support/funnel/hits.ts";
import { until } from "../../../../test/support/until.ts";
import { buildApp } from "../../app.ts";
import { type Db, openDb, openPool } from "../../db/connections/pool.ts";
import { listHomes } from "../../db/home.ts";
import { createLog } from "../../lib/log/log.ts";
import { recordHits } from "../record/record.ts";

// Breakdowns over real HTTP that are refused, or whose reader has left.

const { app, deps, lines } = await createTestApp();
const base = await app.listen({ host: "127.0.0.1", port: 0 });
const BREAKDOWN = "/api/v1/analytics/breakdown?dimension=country";

async function serve(changed: Partial<typeof deps>): Promise<string> {
  const other = await buildApp({ ...deps, ...changed });
  after(() => other.close());
  return await other.listen({ host: "127.0.0.1", port: 0 });
}

test("a key over its limit gets 429 for a breakdown, with the time to wait", async () => {
  const { headers } = await makeCaller(deps.db);
  const limited = await serve({ config: { ...deps.config, rateLimitApiPerMinute: 1 } });
  assert.equal((await fetch(limited + BREAKDOWN, { headers })).status, 200);
  const response = await fetch(limited + BREAKDOWN, { headers });
  assert.deepEqual(
    [response.status, ...["retry-after", "ratelimit-policy", "ratelimit"].map((name) => response.headers.get(name))],
    [429, "60", '"default";q=1;w=60', '"default";r=0;t=60'],
  );
  assert.deepEqual(await response.json(), {
    error: {
      code: "rate_limited",
      message:
        "Rate limit exceeded: 1 requests per minute for this key. Retry after the number of seconds in Retry-After.",
    },
  });
});

test("a breakdown gets 503 while the database is down, with the time to wait", async () => {
  const { headers } = await makeCaller(deps.db);
  const pool = openPool({ url: "postgres://127.0.0.1:1/none", size: 1, log: createLog("silent") });
  after(() => pool.end());
  const response = await fetch((await serve({ db: openDb(pool) })) + BREAKDOWN, { headers });
  assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "5"]);
  assert.match(String(response.headers.get("x-request-id")), /^req_/);
  assert.deepEqual(await response.json(), {
    error: {
      code: "unavailable",
      message: "The database can't be reached right now. Try again in a few seconds.",
    },
  });
});

test("a report is not counted if its reader leaves while it waits, unless someone else asks for the same", async () => {
  const { headers, widgetId } = await makeCaller(deps.db);
  await recordHits(deps.db, [makeHit({ widgetId, visit: 1, at: "2026-11-01T10:00:00Z" })]);
  const ask = (filter: string, signal?: AbortSignal) =>
    fetch(`${base + BREAKDOWN}&${filter}`, { headers, ...(signal ? { signal } : {}) });
  const listCanceled = () => lines.map((line) => JSON.parse(line)).filter(({ name }) => name === "request.canceled");

  // Requests that wait for a new connection would come after later ones.
  const warmUp = (home: Db) => Promise.all(Array.from({ length: 8 }, () => sql`select pg_sleep(0.2)`.execute(home)));
  await Promise.all((await listHomes(deps.db)).map(({ reader }) => warmUp(reader)));
  const { first, shared } = await whileLocked(deps.db, "funnel_visits", async () => {
    const first = ask("device=mobile");
    await untilSomeoneWaits(deps.db);
    const reader = new AbortController();
    const connections = await countConnections();
    const left = [ask("device=desktop", reader.signal), ask("device=tablet", reader.signal)];
    const shared = ask("device=tablet");
    await untilConnections((count) => count >= connections + 3);
    // Once later requests are answered, the keys of these have been checked, and they wait for their turn.
    for (let n = 0; n < 3; n++) assert.equal((await fetch(`${base}/api/v1/widgets`, { headers })).status, 200);
    const open = await countConnections();
    reader.abort();
    await Promise.allSettled(left);
    await untilConnections((count) => count <= open - 2);
    return { first, shared };
  });

  assert.deepEqual([(await first).status, (await shared).status], [200, 200]);
  await until(() => listCanceled().length > 0, "the reader's request is logged");
  assert.equal(listCanceled().length, 1);
  assert.equal((await ask("device=desktop")).status, 200);
});

function countConnections(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  app.server.getConnections((_, count) => resolve(count));
  return promise;
}

async function untilConnections(isReached: (count: number) => boolean): Promise<void> {
  await until(async () => isReached(await countConnections()), "connections were opened or closed");
}
