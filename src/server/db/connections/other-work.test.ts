import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { stopStopwatch, workAsOthers } from "../../../../test/support/database/others-at-work.ts";
import { until } from "../../../../test/support/until.ts";
import { OtherWork } from "./other-work.ts";

const { db } = await createTestDatabase();

const WINDOW_MS = 2_000;

const WORK_MS = 300;

const work = () => workAsOthers(db, { connections: 1, ms: WORK_MS });

test("others are at work while their statements run; one's own do not count", async (context) => {
  const stopwatch = stopStopwatch(context);
  const others = new OtherWork();
  const lookAgain = async () => {
    stopwatch.advance(WINDOW_MS);
    return await others.isBusy(db);
  };
  assert.equal(await others.isBusy(db), null, "not known yet");
  assert.equal(await lookAgain(), false);

  await work();
  assert.equal(await others.isBusy(db), false, "until the window is over");
  assert.equal(await lookAgain(), true);
  assert.equal(await lookAgain(), false);

  await work();
  // A busy server may take longer for it.
  others.addOwn(WORK_MS + 1_000);
  assert.equal(await lookAgain(), false);
});

test("work within a transaction sees what others commit meanwhile, and not its own statements", async (context) => {
  const stopwatch = stopStopwatch(context);
  const others = new OtherWork();
  await db.transaction().execute(async (transaction) => {
    const lookAgain = async () => {
      stopwatch.advance(WINDOW_MS);
      return await others.isBusy(transaction);
    };
    await others.isBusy(transaction);
    await sql`select pg_sleep(${WORK_MS / 1000}), pg_stat_force_next_flush()`.execute(transaction);
    assert.equal(await lookAgain(), false);
    await work();
    assert.equal(await lookAgain(), true);
  });
});

test("a step is followed by a pause while others are at work, and until that is known", async (context) => {
  const stopwatch = stopStopwatch(context);
  const others = new OtherWork();
  /** Whether the step was followed by a pause before the signal ended it. */
  const pauses = async () => {
    const stopping = new AbortController();
    let isOver = false;
    const step = others.giveWay(db, { stepMs: 60_000, signal: stopping.signal }).then(() => {
      isOver = true;
    });
    const isPaused = () => getEventListeners(stopping.signal, "abort").length > 0;
    await until(() => isOver || isPaused(), "it is followed by a pause, or by the next step");
    const hasPaused = isPaused();
    stopping.abort();
    await step;
    return hasPaused;
  };
  assert.equal(await pauses(), true, "not known yet");
  stopwatch.advance(WINDOW_MS);
  assert.equal(await pauses(), false);
  await work();
  stopwatch.advance(WINDOW_MS);
  assert.equal(await pauses(), true);
});
