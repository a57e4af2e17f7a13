import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import { type Booking, createClient } from "../../sdk/src/index.ts";
import { createTestApp } from "../support/app/app.ts";
import { fillBookings, makeCaller, type TestCaller } from "../support/app/read-api.ts";
import { openWire } from "../support/app/wire.ts";
import { makeBooking, NOON } from "../support/builders.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { CLEAN_ENVIRONMENT } from "../support/programs/clean-environment.ts";
import { startFaultyProxy } from "../support/programs/faulty-proxy.ts";
import { placeClient } from "../support/programs/installed-client.ts";
import { until } from "../support/until.ts";

// The sync examples, run as by a user of the package, and killed repeatedly while bookings are made.

const KILLS = 3;
const PAGES = 4;
const PAGE_SIZE = 500;
/** Makes the walk long enough to be killed anywhere. */
const ANSWER_DELAY_MS = 10;

const { app, deps } = await createTestApp();
const { port } = await openWire(app);
const proxy = await startFaultyProxy(`http://127.0.0.1:${port}`);
const project = placeClient();

type Run = { code: number | null; printed: string };

async function runExample(name: string, settings: Record<string, string>, killAt: number | null): Promise<Run> {
  const path = fileURLToPath(new URL(`../../sdk/examples/${name}`, import.meta.url));
  const copy = join(project, name);
  copyFileSync(path, copy);
  const child = spawn(process.execPath, [copy], {
    cwd: project,
    env: { ...CLEAN_ENVIRONMENT, BOOKFLOW_URL: proxy.url, ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = once(child, "close");
  proxy.requests.length = 0;
  proxy.onRequest = async (count) => {
    await sleep(ANSWER_DELAY_MS);
    // After this request was sent: while it is answered, while its bookings are stored, or while the next one is sent.
    if (count === killAt) setTimeout(() => child.kill("SIGKILL"), randomInt(4 * ANSWER_DELAY_MS));
  };
  const [code] = (await ended) as [number | null];
  return { code, printed };
}

async function readAll(caller: TestCaller): Promise<Booking[]> {
  const bookings: Booking[] = [];
  const client = createClient({ apiKey: caller.key, baseUrl: `http://127.0.0.1:${port}` });
  for await (const booking of client.bookings({ limit: PAGE_SIZE })) bookings.push(booking);
  return bookings;
}

/** Kills the example often enough while bookings are being made, and then lets it finish. */
async function killAgainAndAgain(
  name: string,
  options: { caller: TestCaller; settings: Record<string, string>; readCheckpoint: () => Promise<string | null> },
): Promise<{ midway: number }> {
  const { caller } = options;
  const settings = { BOOKFLOW_API_KEY: caller.key, ...options.settings };
  let isKilling = true;
  const writing = (async () => {
    while (isKilling) {
      await makeBooking(deps.db, caller.owner, { widgetId: caller.widgetId, customer_name: 'Zoë "Z" 🦷, =1+1' });
      await sleep(5);
    }
  })();
  let midway = 0;
  for (let kills = 0; kills < KILLS; ) {
    const checkpoint = await options.readCheckpoint();
    // The first requests ask for changes and deletions, so the fourth is certainly in the middle of the walk; a walk over only new
    // bookings ends soon.
    const killAt = checkpoint === null ? 4 : isMidway(checkpoint) ? randomInt(1, 4) : 1;
    const { code } = await runExample(name, settings, killAt);
    if (code === null) kills += 1;
    if (isMidway(await options.readCheckpoint())) midway += 1;
  }
  isKilling = false;
  await writing;
  const last = await runExample(name, settings, null);
  assert.equal(last.code, 0);
  assert.match(last.printed, /^\d+ bookings\n$/);
  return { midway };
}

function isMidway(checkpoint: string | null): boolean {
  return checkpoint !== null && JSON.parse(checkpoint).walk !== null;
}

async function makeCallerWithHistory(): Promise<TestCaller> {
  const caller = await makeCaller(deps.db);
  const count = (PAGES - 1) * PAGE_SIZE + 1;
  await fillBookings(deps.db, caller, { count, firstAt: new Date(NOON.getTime() - DAY_MS) });
  return caller;
}

test("a table in PostgreSQL ends with exactly the service's bookings", async () => {
  const caller = await makeCallerWithHistory();
  const { db, url } = await createTestDatabase({ template: "template1" });
  const readCheckpoint = async () => {
    const { rows } = await sql<{
      there: boolean;
    }>`select to_regclass('bookings_checkpoint') is not null as there`.execute(db);
    if (!rows[0]?.there) return null;
    return (
      (await sql<{ checkpoint: string }>`select checkpoint from bookings_checkpoint`.execute(db)).rows[0]?.checkpoint ??
      null
    );
  };
  const { midway } = await killAgainAndAgain("sync-to-postgresql.ts", {
    caller,
    settings: { DATABASE_URL: url },
    readCheckpoint,
  });
  assert.ok(midway > 0, "it was never killed in the middle of a walk");
  const { rows } = await sql<{ booking: Booking }>`select booking from bookings order by created_at desc`.execute(db);
  assert.deepEqual(
    rows.map((row) => row.booking),
    await readAll(caller),
  );
});

test("a second run of the PostgreSQL example waits for the first", async () => {
  const caller = await makeCaller(deps.db);
  await makeBooking(deps.db, caller.owner, { widgetId: caller.widgetId });
  const { db, url } = await createTestDatabase({ template: "template1" });
  const run = () => runExample("sync-to-postgresql.ts", { BOOKFLOW_API_KEY: caller.key, DATABASE_URL: url }, null);
  const isWaiting = async () => {
    const { rows } = await sql`
      select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and locktype = 'advisory' and not granted`.execute(db);
    return rows.length > 0;
  };
  let second: Promise<Run> | undefined;
  await db.connection().execute(async (first) => {
    await sql`select pg_advisory_lock(hashtext('bookings_checkpoint'))`.execute(first);
    second = run();
    await until(isWaiting, "the second run waits");
    assert.deepEqual(proxy.requests, []);
    await sql`select pg_advisory_unlock(hashtext('bookings_checkpoint'))`.execute(first);
  });
  assert.deepEqual(await second, { code: 0, printed: "1 bookings\n" });
});

test("a CSV file ends with exactly the service's bookings", async () => {
  const caller = await makeCallerWithHistory();
  const file = join(project, "copy.csv");
  const { midway } = await killAgainAndAgain("sync-to-csv.ts", {
    caller,
    settings: { CSV_FILE: file },
    readCheckpoint: async () => (existsSync(`${file}.checkpoint`) ? readFileSync(`${file}.checkpoint`, "utf8") : null),
  });
  assert.ok(midway > 0, "it was never killed in the middle of a walk");
  const [heading, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  assert.equal(heading, "reference,createdAt,status,start,end,service,name,email,source,campaign");
  const quote = (text = "") => `"${text.replaceAll('"', '""')}"`;
  const expected = (await readAll(caller)).map(({ reference, createdAt, status, start, end, service, customer }) =>
    [
      reference,
      createdAt,
      status,
      start,
      end,
      ...[service.name, customer.name, customer.email, "", ""].map(quote),
    ].join(","),
  );
  assert.deepEqual(lines.sort(), expected.sort());
});
