import assert from "node:assert/strict";
import { after, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import type { WidgetId } from "#contract/ids.ts";
import { storeBooking } from "../../src/server/bookings/flow/keep-booking.ts";
import { takeReference } from "../../src/server/bookings/flow/reference.ts";
import { openDb, openPool } from "../../src/server/db/connections/pool.ts";
import { inHome } from "../../src/server/db/statements/transactions.ts";
import { systemRandom } from "../../src/server/lib/secrets/random.ts";
import { createTestApp, createTestClock } from "../support/app/app.ts";
import { getAllPages, getPage, makeCaller, plainBooking, type TestCaller } from "../support/app/read-api.ts";
import { makeWidget, NOON } from "../support/builders.ts";
import { untilSomeoneWaits } from "../support/database/count-blocked.ts";

// Paging and incremental sync while bookings are being made, many of them in one millisecond: the clock stands still, and steps
// back now and then. Every writer has its own connection, and transactions end in a different order than they start.

const WRITERS_MAX = 6;
const RUNS = 3;
const LIMITS = [1, 7, 500];
/** Runs differ in how the connections interleave, so a failing one can't be shrunk by running it again. */
const SETTINGS = { numRuns: RUNS, endOnFailure: true };

const { app, deps, url } = await createTestApp();
const writersPool = openPool({ url, size: WRITERS_MAX, log: deps.log });
// The first connection learns what the database is.
await writersPool.query("select 1");
after(() => writersPool.end());
const writersDb = openDb(writersPool);

type Made = { reference: string; createdAt: string; widgetId: WidgetId };

/** One booking of a writer: its widget, its clock, how long its transaction lasts, and how it ends. */
type PlannedBooking = {
  widget: number;
  clockMs: number;
  statementsBefore: number;
  statementsAfter: number;
  isGivenUp: boolean;
};

const plannedBooking: fc.Arbitrary<PlannedBooking> = fc.record({
  widget: fc.nat({ max: 1 }),
  clockMs: fc.constantFrom(0, 0, 0, 0, 1, 3, -5_000),
  statementsBefore: fc.nat({ max: 2 }),
  statementsAfter: fc.nat({ max: 4 }),
  isGivenUp: fc.constantFrom(false, false, false, false, false, true),
});

const plannedWriters = fc.array(fc.array(plannedBooking, { minLength: 4, maxLength: 8 }), {
  minLength: 4,
  maxLength: WRITERS_MAX,
});

class GivenUp extends Error {}

async function write(caller: TestCaller, widgets: readonly WidgetId[], plan: PlannedBooking): Promise<Made | null> {
  const widgetId = widgets[plan.widget] ?? caller.widgetId;
  try {
    return await inHome(writersDb, caller.owner, async (transaction) => {
      const reference = await takeReference(deps.db, caller.owner, systemRandom);
      for (let i = 0; i < plan.statementsBefore; i++) await sql`select 1`.execute(transaction);
      const clock = { now: () => new Date(NOON.getTime() + plan.clockMs) };
      const booking = plainBooking(reference, widgetId);
      const createdAt = await storeBooking({ clock }, transaction, { owner: caller.owner, booking });
      for (let i = 0; i < plan.statementsAfter; i++) await sql`select 1`.execute(transaction);
      if (plan.isGivenUp) throw new GivenUp();
      return { reference, createdAt: createdAt.toISOString(), widgetId };
    });
  } catch (error) {
    if (error instanceof GivenUp) return null;
    throw error;
  }
}

/** Starts every writer at once; `made` is complete when `done` resolves, newest first. */
function startWriters(caller: TestCaller, widgets: readonly WidgetId[], plans: readonly (readonly PlannedBooking[])[]) {
  const state = { isDone: false };
  const writers = plans.map(async (plan) => {
    const made: (Made | null)[] = [];
    for (const planned of plan) made.push(await write(caller, widgets, planned));
    return made;
  });
  const done = Promise.all(writers)
    .then((made) =>
      made
        .flat()
        .filter((one) => one !== null)
        .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1)),
    )
    .finally(() => {
      state.isDone = true;
    });
  return { state, done };
}

async function makeReader(): Promise<{ caller: TestCaller; widgets: WidgetId[] }> {
  const caller = await makeCaller(deps.db);
  return { caller, widgets: [caller.widgetId, await makeWidget(deps.db, caller.owner)] };
}

type Walk = { references: string[]; widget: WidgetId | null };

/** Follows nextCursor from the newest booking to the oldest, repeatedly while the writers write, and once after. */
async function walkAgainAndAgain(
  headers: Record<string, string>,
  options: { limit: number; widget: WidgetId | null; state: { isDone: boolean } },
): Promise<Walk[]> {
  const query = { limit: options.limit, ...(options.widget === null ? {} : { widget: options.widget }) };
  const walks: Walk[] = [];
  for (let isLast = false; !isLast; ) {
    isLast = options.state.isDone;
    const pages = await getAllPages(app, headers, query);
    for (const page of pages.slice(0, -1)) assert.equal(page.createdAts.length, options.limit);
    walks.push({ references: pages.flatMap((page) => page.references), widget: options.widget });
  }
  return walks;
}

let walksMidway = 0;

test("following nextCursor at limits 1, 7 and 500 while bookings are made returns each exactly once, newest first", async () => {
  await fc.assert(
    fc.asyncProperty(plannedWriters, async (plans) => {
      const { caller, widgets } = await makeReader();
      const { state, done } = startWriters(caller, widgets, plans);
      const readers = [
        ...LIMITS.map((limit) => ({ limit, widget: null })),
        ...widgets.map((widget) => ({ limit: 2, widget })),
      ].map((options) => walkAgainAndAgain(caller.headers, { ...options, state }));
      const [made, ...walks] = await Promise.all([done, ...readers]);
      assert.equal(new Set(made.map((one) => one.createdAt)).size, made.length);

      for (const { references, widget } of walks.flat()) {
        const all = made.filter((one) => widget === null || one.widgetId === widget).map((one) => one.reference);
        // Everything up to the newest booking the walk started with: nothing made before it may appear later.
        const start = references.length === 0 ? all.length : all.indexOf(String(references[0]));
        assert.deepEqual(references, all.slice(start));
        if (start > 0 && start < all.length) walksMidway += 1;
      }
    }),
    SETTINGS,
  );
  assert.ok(walksMidway > 0, "no walk ran while bookings were made");
});

/** The contract's sync: page with one fixed since, upsert by reference, then keep the newest createdAt. */
class Poller {
  readonly copy = new Map<string, string>();
  readonly #headers: Record<string, string>;
  readonly #limit: number;
  #since: string | null = null;
  polls = 0;

  constructor(headers: Record<string, string>, limit: number) {
    this.#headers = headers;
    this.#limit = limit;
  }

  async poll(): Promise<void> {
    const query = { limit: this.#limit, ...(this.#since === null ? {} : { since: this.#since }) };
    const pages = await getAllPages(app, this.#headers, query);
    for (const { references, createdAts } of pages) {
      for (const [i, reference] of references.entries()) this.copy.set(reference, String(createdAts[i]));
    }
    this.#since = pages[0]?.createdAts[0] ?? this.#since;
    this.polls += 1;
  }
}

test("a poller that sends only since and upserts by reference ends with exactly the full set", async () => {
  let polls = 0;
  await fc.assert(
    fc.asyncProperty(plannedWriters, async (plans) => {
      const { caller, widgets } = await makeReader();
      const pollers = LIMITS.map((limit) => new Poller(caller.headers, limit));
      const { state, done } = startWriters(caller, widgets, plans);
      const polling = pollers.map(async (poller) => {
        while (!state.isDone) await poller.poll();
        await poller.poll();
      });
      const [made] = await Promise.all([done, ...polling]);
      for (const poller of pollers) {
        const copy = [...poller.copy].sort(([, a], [, b]) => (a < b ? 1 : -1));
        assert.deepEqual(
          copy,
          made.map((one) => [one.reference, one.createdAt]),
        );
        polls += poller.polls;
      }
    }),
    SETTINGS,
  );
  assert.ok(polls > 2 * LIMITS.length * RUNS, "the pollers did not poll while bookings were made");
});

test("createdAt is now, or a millisecond after the last one if the clock stands still or steps back", async () => {
  const { caller, widgets } = await makeReader();
  const plain = { widget: 0, statementsBefore: 0, statementsAfter: 0, isGivenUp: false };
  const made: (string | undefined)[] = [];
  for (const clockMs of [0, 0, 0, -60_000, 2, 10, 3]) {
    made.push((await write(caller, widgets, { ...plain, clockMs }))?.createdAt);
  }
  const expected = [0, 1, 2, 3, 4, 10, 11].map((ms) => new Date(NOON.getTime() + ms).toISOString());
  assert.deepEqual(made, expected);
  assert.deepEqual((await getPage(app, caller.headers)).createdAts, expected.toReversed());
});

test("a booking that waits for another one gets its createdAt after that wait, so no finished time window grows", async () => {
  const { caller } = await makeReader();
  const clock = createTestClock(NOON);
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>();
  const { promise: hasStored, resolve: stored } = Promise.withResolvers<void>();
  const store = (then: () => Promise<void>) =>
    inHome(writersDb, caller.owner, async (transaction) => {
      const booking = plainBooking(await takeReference(deps.db, caller.owner, systemRandom), caller.widgetId);
      const createdAt = await storeBooking({ clock }, transaction, { owner: caller.owner, booking });
      await then();
      return createdAt;
    });
  const first = store(async () => {
    stored();
    await mayCommit;
  });
  await hasStored;
  const second = store(async () => {});
  await untilSomeoneWaits(deps.db);
  const windowEnd = new Date(NOON.getTime() + 60_000);
  clock.set(windowEnd);
  commit();
  assert.deepEqual([await first, await second], [NOON, windowEnd]);
});

test("another organization's bookings in the same millisecond neither wait for these nor shift them", async () => {
  const plain = { widget: 0, clockMs: 0, statementsBefore: 0, statementsAfter: 3, isGivenUp: false };
  const readers = await Promise.all(Array.from({ length: WRITERS_MAX }, makeReader));
  const made = await Promise.all(readers.map(({ caller, widgets }) => write(caller, widgets, plain)));
  assert.deepEqual(
    made.map((one) => one?.createdAt),
    readers.map(() => NOON.toISOString()),
  );
  for (const [i, { caller }] of readers.entries()) {
    assert.deepEqual((await getPage(app, caller.headers)).references, [made[i]?.reference]);
  }
});
