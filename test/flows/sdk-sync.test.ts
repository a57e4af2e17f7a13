import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { MINUTE_MS } from "#contract/durations.ts";
import type { Reference } from "#contract/ids.ts";
import {
  ApiError,
  type Booking,
  type BookingStore,
  type Change,
  createClient,
  syncBookings,
} from "../../sdk/src/index.ts";
import { applyChange } from "../../src/server/bookings/changes/apply-change.ts";
import { deleteBooking } from "../../src/server/bookings/stored/erase/erase.ts";
import { inHome } from "../../src/server/db/statements/transactions.ts";
import { createTestApp } from "../support/app/app.ts";
import { fillBookings, makeCaller, type TestCaller } from "../support/app/read-api.ts";
import { openWire } from "../support/app/wire.ts";
import { makeBooking, makeWidget, NOON } from "../support/builders.ts";
import { startFaultyProxy } from "../support/programs/faulty-proxy.ts";

// syncBookings from sdk/src against the real service, with a store that can be interrupted at any step.

const { app, deps, clock } = await createTestApp();
const { port } = await openWire(app);
const baseUrl = `http://127.0.0.1:${port}`;
const proxy = await startFaultyProxy(baseUrl);

class CutOff extends Error {}

/** Bookings and position in memory, stored one after the other as in two files. Each step is announced before it is done. */
class TestStore implements BookingStore {
  readonly copy = new Map<string, Booking>();
  readonly upserts: number[] = [];
  checkpoint: string | null = null;
  beforeStep: () => void = () => {};

  readCheckpoint(): string | null {
    return this.checkpoint;
  }

  upsert(bookings: Booking[], checkpoint: string): void {
    this.upserts.push(bookings.length);
    for (const booking of bookings) {
      this.beforeStep();
      this.copy.set(booking.reference, booking);
    }
    this.beforeStep();
    this.checkpoint = checkpoint;
  }

  newestFirst(): Booking[] {
    return [...this.copy.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  }
}

const connect = (caller: TestCaller, url = baseUrl) => createClient({ apiKey: caller.key, baseUrl: url });

async function readAll(caller: TestCaller, widget?: string): Promise<Booking[]> {
  const bookings: Booking[] = [];
  for await (const booking of connect(caller).bookings({ limit: 500, widget })) bookings.push(booking);
  return bookings;
}

const LATER = new Date("2026-11-06T10:00:00.000Z");

async function change(caller: TestCaller, reference: Reference, to: Date | "cancelled"): Promise<void> {
  const times = (startAt: Date) => ({ startAt, endAt: new Date(startAt.getTime() + 30 * MINUTE_MS) });
  const links = { externalId: "b-2", manageUrl: null, joinUrl: null };
  const now =
    to === "cancelled" ? ({ kind: "cancelled" } as const) : ({ kind: "confirmed", ...links, ...times(to) } as const);
  const { owner, widgetId } = caller;
  const applied = await inHome(deps.db, owner, (transaction) =>
    applyChange(deps, transaction, { owner, reference, widgetId, now, claim: async () => true }),
  );
  assert.equal(applied, "changed");
}

async function makeMany(caller: TestCaller, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await makeBooking(deps.db, caller.owner, { widgetId: caller.widgetId });
}

async function watch(work: () => Promise<unknown>): Promise<Record<string, string>[]> {
  proxy.requests.length = 0;
  await work();
  return proxy.requests.map((path) => Object.fromEntries(new URL(path, baseUrl).searchParams));
}

describe("keeping a copy in sync", () => {
  test("fetches everything at first, and then only what is new, including the last booking seen", async () => {
    const caller = await makeCaller(deps.db);
    await makeMany(caller, 5);
    const store = new TestStore();
    const client = connect(caller, proxy.url);
    const [oldest] = (await readAll(caller)).slice(-1);

    const first = await watch(async () => assert.equal(await syncBookings(client, { store, limit: 2 }), 5));
    assert.deepEqual([first.length, first[0]], [3, { limit: "2" }]);
    assert.deepEqual(store.upserts, [2, 2, 1]);
    assert.deepEqual(store.newestFirst(), await readAll(caller));

    await makeMany(caller, 1);
    const [newest, seen] = await readAll(caller);
    const second = await watch(async () => assert.equal(await syncBookings(client, { store }), 2));
    assert.deepEqual(second, [{ limit: "500", since: seen?.createdAt }]);
    assert.deepEqual(store.newestFirst(), await readAll(caller));
    assert.deepEqual(JSON.parse(store.checkpoint ?? ""), { widget: null, since: newest?.createdAt, walk: null });
    assert.notEqual(oldest?.createdAt, newest?.createdAt);
  });

  test("bookings that are deleted leave the copy, also when a run is cut off, and a fresh copy asks for no old deletions", async () => {
    const caller = await makeCaller(deps.db);
    await makeMany(caller, 6);
    const client = connect(caller, proxy.url);
    const [gone, ...rest] = (await readAll(caller)).map(({ reference }) => reference as Reference);
    assert.ok(gone);
    const remove = (reference: Reference) => deleteBooking(deps, caller.owner, reference);
    await remove(gone);
    class DeletingStore extends TestStore {
      readonly deletes: number[] = [];
      delete(references: string[], checkpoint: string): void {
        this.deletes.push(references.length);
        for (const reference of references) {
          this.beforeStep();
          this.copy.delete(reference);
        }
        this.beforeStep();
        this.checkpoint = checkpoint;
      }
    }
    const store = new DeletingStore();
    const sync = () => syncBookings(client, { store, limit: 2 });
    await sync();
    assert.deepEqual([store.copy.size, store.deletes], [5, [1]], "the newest deletion, which since includes");
    for (const reference of rest.slice(0, 4)) await remove(reference);
    store.beforeStep = () => {
      if (store.deletes.length === 3) throw new CutOff();
    };
    await assert.rejects(sync(), CutOff);
    store.beforeStep = () => {};
    await remove(rest[4] as Reference);
    await sync();
    assert.deepEqual([...store.copy.keys()], []);
    assert.deepEqual(await readAll(caller), []);

    // A copy from before deletions were followed: everything that was deleted since is taken from it.
    await makeMany(caller, 1);
    const old = new TestStore();
    await syncBookings(client, { store: old });
    const upgraded = new DeletingStore();
    for (const [reference, booking] of old.copy) upgraded.copy.set(reference, booking);
    upgraded.copy.set(gone, { ...[...old.copy.values()][0], reference: gone } as Booking);
    upgraded.checkpoint = old.checkpoint;
    await syncBookings(client, { store: upgraded });
    assert.deepEqual([...upgraded.copy.keys()], [...old.copy.keys()]);
  });

  test("appointments that are cancelled or moved change in the copy, also when a run is cut off, and each change comes once", async () => {
    const caller = await makeCaller(deps.db);
    await makeMany(caller, 5);
    const client = connect(caller, proxy.url);
    const references = (await readAll(caller)).map(({ reference }) => reference as Reference);
    const [first, second, third, fourth] = references as [Reference, Reference, Reference, Reference];
    await change(caller, first, "cancelled");
    class ChangingStore extends TestStore {
      readonly changes: string[][] = [];
      change(changes: Change[], checkpoint: string): void {
        this.changes.push(changes.map(({ reference }) => reference));
        for (const { reference, status, start, end } of changes) {
          this.beforeStep();
          const booking = this.copy.get(reference);
          if (booking) this.copy.set(reference, { ...booking, status, start, end });
        }
        this.beforeStep();
        this.checkpoint = checkpoint;
      }
    }
    const store = new ChangingStore();
    const sync = () => syncBookings(client, { store, limit: 2 });
    await sync();
    assert.deepEqual([store.changes, store.newestFirst()], [[], await readAll(caller)], "a new copy is as it is now");

    await change(caller, second, LATER);
    await change(caller, third, LATER);
    await change(caller, second, "cancelled");
    await change(caller, fourth, "cancelled");
    await change(caller, fourth, LATER);
    store.beforeStep = () => {
      if (store.changes.length === 2) throw new CutOff();
    };
    await assert.rejects(sync(), CutOff);
    store.beforeStep = () => {};
    await sync();
    assert.deepEqual(store.changes, [[third, second], [fourth], [fourth]]);
    assert.deepEqual(store.newestFirst(), await readAll(caller));
    assert.deepEqual(
      store.newestFirst().map(({ status }) => status),
      ["cancelled", "cancelled", "confirmed", "confirmed", "confirmed"],
    );

    await sync();
    assert.equal(store.changes.length, 3, "nothing new");
    // A copy from before changes were followed gets all of them.
    const upgraded = new ChangingStore();
    upgraded.checkpoint = JSON.stringify({ ...JSON.parse(store.checkpoint ?? ""), changes: undefined });
    for (const reference of references)
      upgraded.copy.set(reference, { ...store.copy.get(reference), status: "old" } as Booking);
    await syncBookings(client, { store: upgraded });
    assert.deepEqual(upgraded.changes, [[first, third, second, fourth]]);
  });

  test("writes nothing to the store without any bookings", async () => {
    const store = new TestStore();
    assert.equal(await syncBookings(connect(await makeCaller(deps.db)), { store }), 0);
    assert.deepEqual([store.upserts, store.checkpoint], [[], null]);
  });

  test("resumes where it was cut off, and fetches what arrived meanwhile", async () => {
    const caller = await makeCaller(deps.db);
    await makeMany(caller, 7);
    const store = new TestStore();
    const client = connect(caller, proxy.url);
    store.beforeStep = () => {
      if (store.upserts.length === 3) throw new CutOff();
    };
    await assert.rejects(syncBookings(client, { store, limit: 2 }), CutOff);
    const before = await readAll(caller);
    await makeMany(caller, 3);
    store.beforeStep = () => {};

    const asked = await watch(() => syncBookings(client, { store, limit: 2 }));
    const newest = before[0]?.createdAt;
    assert.deepEqual(asked, [
      { limit: "2", cursor: before[3]?.createdAt },
      { limit: "2", cursor: before[5]?.createdAt },
      { limit: "2", since: newest },
      { limit: "2", since: newest, cursor: (await readAll(caller))[1]?.createdAt },
    ]);
    assert.deepEqual(store.newestFirst(), await readAll(caller));
  });

  test("finishes even if the remaining bookings are past retention by now", async () => {
    const caller = await makeCaller(deps.db);
    await fillBookings(deps.db, caller, { count: 4, firstAt: new Date(NOON.getTime() - MINUTE_MS) });
    await makeMany(caller, 2);
    const store = new TestStore();
    store.beforeStep = () => {
      if (store.upserts.length === 2) throw new CutOff();
    };
    await assert.rejects(syncBookings(connect(caller), { store, limit: 2 }), CutOff);
    store.beforeStep = () => {};
    await deps.db
      .deleteFrom("bookings")
      .where("organization_id", "=", caller.owner)
      .where("created_at", "<", NOON)
      .execute();
    await syncBookings(connect(caller), { store, limit: 2 });
    assert.deepEqual(store.upserts.slice(2), [0, 1]);
    assert.deepEqual(store.newestFirst(), await readAll(caller));
  });

  test("works for one widget, in its own store", async () => {
    const caller = await makeCaller(deps.db);
    await makeMany(caller, 2);
    const widget = await makeWidget(deps.db, caller.owner);
    await makeBooking(deps.db, caller.owner, { widgetId: widget });
    const store = new TestStore();
    assert.equal(await syncBookings(connect(caller), { store, widget }), 1);
    assert.deepEqual(store.newestFirst(), await readAll(caller, widget));
    await assert.rejects(
      syncBookings(connect(caller), { store }),
      /holds bookings of w_\w+\. Use another store for all widgets\./,
    );
    await assert.rejects(syncBookings(connect(caller), { store, widget: caller.widgetId }), TypeError);
    assert.equal(store.copy.size, 1);
  });

  test("refuses an invalid position before any request", async () => {
    const caller = await makeCaller(deps.db);
    for (const checkpoint of ["", "2026-11-01", "null", "{}", '{"widget":null,"since":5,"walk":null}']) {
      const store = new TestStore();
      store.checkpoint = checkpoint;
      await assert.rejects(syncBookings(connect(caller), { store }), TypeError, checkpoint);
    }
  });

  test("passes on errors from the service, the store and a signal unchanged", async () => {
    const caller = await makeCaller(deps.db, { plan: "pro" });
    await assert.rejects(syncBookings(connect(caller), { store: new TestStore() }), ApiError);
    const signal = AbortSignal.abort(new CutOff());
    await assert.rejects(syncBookings(connect(caller), { store: new TestStore(), signal }), CutOff);
  });
});

test("ends with exactly the service's bookings after random interruptions while bookings are made", async () => {
  let cuts = 0;
  const plan = fc.record({
    limit: fc.constantFrom(1, 3, 10),
    batches: fc.array(fc.nat({ max: 9 }), { minLength: 3, maxLength: 6 }),
    // How many store steps each run completes.
    steps: fc.array(fc.nat({ max: 14 }), { minLength: 5, maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ limit, batches, steps }) => {
      const caller = await makeCaller(deps.db);
      const store = new TestStore();
      const writing = (async () => {
        for (const count of batches) await makeMany(caller, count);
      })();
      for (const allowed of steps) {
        let left = allowed;
        store.beforeStep = () => {
          if (left-- === 0) throw new CutOff();
        };
        await syncBookings(connect(caller), { store, limit }).catch((error: unknown) => {
          assert.ok(error instanceof CutOff, String(error));
          cuts += 1;
        });
      }
      await writing;
      store.beforeStep = () => {};
      await syncBookings(connect(caller), { store, limit });
      assert.deepEqual(store.newestFirst(), await readAll(caller));
    }),
    { numRuns: 12, endOnFailure: true },
  );
  assert.ok(cuts > 0);
  assert.ok(clock.now().getTime() === NOON.getTime());
});
