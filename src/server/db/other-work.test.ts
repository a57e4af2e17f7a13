import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../test/support/database.ts";
import { OtherWork } from "./other-work.ts";
import type { Db } from "./pool.ts";

const { db } = await createTestDatabase();

const WINDOW_MS = 2_000;

let nowMs = 0;

/** Until the test ends: other files run in the same process. */
function stopClock(context: TestContext): void {
  context.mock.method(performance, "now", () => nowMs);
}

const WORK_MS = 300;

/** Keeps the database busy for a while, and has PostgreSQL report it at once. */
async function work(): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`select pg_sleep(${WORK_MS / 1000})`.execute(connection);
    await sql`select pg_stat_force_next_flush()`.execute(connection);
  });
}

async function lookAgain(others: OtherWork, connection: Db = db): Promise<boolean | null> {
  nowMs += WINDOW_MS;
  return await others.isBusy(connection);
}

test("others are at work while their statements run; one's own do not count", async (context) => {
  stopClock(context);
  const others = new OtherWork();
  assert.equal(await others.isBusy(db), null, "not known yet");
  assert.equal(await lookAgain(others), false);

  await work();
  assert.equal(await others.isBusy(db), false, "until the window is over");
  assert.equal(await lookAgain(others), true);
  assert.equal(await lookAgain(others), false);

  await work();
  others.addOwn(WORK_MS);
  assert.equal(await lookAgain(others), false);
});

test("work within a transaction sees what others commit meanwhile, and not its own statements", async (context) => {
  stopClock(context);
  const others = new OtherWork();
  await db.transaction().execute(async (transaction) => {
    await others.isBusy(transaction);
    await sql`select pg_sleep(${WORK_MS / 1000}), pg_stat_force_next_flush()`.execute(transaction);
    assert.equal(await lookAgain(others, transaction), false);
    await work();
    assert.equal(await lookAgain(others, transaction), true);
  });
});

test("a step is followed by a pause only while others are at work", async (context) => {
  stopClock(context);
  const others = new OtherWork();
  /** Whether the step was followed by a pause before the signal ended it. */
  const pauses = async () => {
    const stopping = new AbortController();
    const paused = others.giveWay(db, { stepMs: 60_000, signal: stopping.signal });
    const first = await Promise.race([paused.then(() => "continued"), sql`select pg_sleep(0.1)`.execute(db)]);
    stopping.abort();
    await paused;
    return first !== "continued";
  };
  assert.equal(await pauses(), false);
  await work();
  nowMs += WINDOW_MS;
  assert.equal(await pauses(), true);
});
