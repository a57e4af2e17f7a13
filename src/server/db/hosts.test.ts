import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { openSilentWire } from "../../../test/support/database/silent-wire.ts";
import { createLog } from "../lib/log/log.ts";
import { type Db, openDb, openPool } from "./pool.ts";

const POOL_SIZE = 20;

describe("a pool over several servers", { concurrency: true }, async () => {
  const database = await createTestDatabase();

  /** The servers are wires to one database, each of which can fall silent. */
  async function openOnWires() {
    const wires = await Promise.all([1, 2, 3].map(() => openSilentWire(database.url)));
    const [first, ...others] = wires.map((wire) => new URL(wire.url));
    assert.ok(first);
    const url = first.href.replace(first.host, [first, ...others].map(({ host }) => host).join(","));
    const pool = openPool({ url, isSpread: true, size: POOL_SIZE, log: createLog("silent") });
    after(() => pool.end());
    return { wires, pool, db: openDb(pool), ports: [first, ...others].map(({ port }) => Number(port)) };
  }

  const ask = (db: Db) => sql`select 1`.execute(db);
  const listPorts = (pool: ReturnType<typeof openPool>) => {
    const ports = new Set<number>();
    pool.on("acquire", (client) => ports.add((client as unknown as { port: number }).port));
    return ports;
  };

  test("uses all but the first, which is the coordinator", async () => {
    const { pool, db, ports } = await openOnWires();
    const used = listPorts(pool);
    await Promise.all(Array.from({ length: 4 }, () => sql`select pg_sleep(0.2)`.execute(db)));
    assert.deepEqual([...used].sort(), ports.slice(1).sort());
  });

  test("goes on with the others while one answers nobody, and uses it again afterwards", async () => {
    const { wires, pool, db, ports } = await openOnWires();
    const used = listPorts(pool);
    await ask(db);
    const [port = 0] = used;
    const wire = wires[ports.indexOf(port)];
    wire?.fallSilent();
    await assert.rejects(ask(db), { message: "The database does not respond" });
    used.clear();
    for (let n = 0; n < 20; n++) await ask(db);
    assert.equal(pool.isSilent, false);
    assert.ok(!used.has(port));
    wire?.mend();
    // It is tried twice a second.
    await sleep(2_000);
    // More at once each time: open connections are used again.
    for (let count = 4; !used.has(port) && count <= POOL_SIZE; count += 4) {
      await Promise.all(Array.from({ length: count }, () => sql`select pg_sleep(0.5)`.execute(db)));
    }
    assert.ok(used.has(port));
  });

  test("uses the first while all others are down", async () => {
    const { wires, pool, db, ports } = await openOnWires();
    for (const wire of wires.slice(1)) wire.fallSilent();
    await ask(db).catch(() => undefined);
    const used = listPorts(pool);
    await ask(db);
    assert.deepEqual([...used], ports.slice(0, 1));
  });
});
