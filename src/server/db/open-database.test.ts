import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";
import { after, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database/database.ts";
import { openSilentWire } from "../../../test/support/database/silent-wire.ts";
import { parseConfig } from "../config.ts";
import { createLog } from "../lib/log/log.ts";
import { StartError } from "../lib/start-error.ts";
import { openDatabase } from "./open-database.ts";

const { url } = await createTestDatabase();
const { host, port, user, password, database } = new pg.Client({ connectionString: url });
const WAITING = "Waiting for the database at DATABASE_URL.";

/** Starts with this address, and calls back when it has said that it waits. */
async function start(databaseUrl: string, onWaiting: () => void, notices: string[] = []) {
  const notice = (sentence: string) => {
    notices.push(sentence);
    if (sentence === WAITING) onWaiting();
  };
  const config = { ...parseConfig({}), databaseUrl };
  const opened = await openDatabase({ config, log: createLog("silent"), notice });
  after(() => opened.close());
  return { db: opened.db, notices };
}

function toUrl(ownPort: number): string {
  const credentials = [user ?? "", password ?? ""].map(encodeURIComponent).join(":");
  return `postgres://${credentials}@127.0.0.1:${ownPort}/${database}`;
}

test("a start waits for a database that refuses connections, and goes on when it accepts them", async () => {
  const target: NetConnectOpts = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) sockets.push(socket.on("error", () => undefined));
    near.pipe(far).pipe(near);
  });
  // Reserves a port, on which nothing listens yet.
  await once(server.listen(0, "127.0.0.1"), "listening");
  const ownPort = (server.address() as AddressInfo).port;
  await new Promise((resolve) => server.close(resolve));
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { db, notices } = await start(toUrl(ownPort), () => server.listen(ownPort, "127.0.0.1"));
  assert.deepEqual(notices, [WAITING]);
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }]);
});

test("a start waits for a database that accepts connections and says nothing", async () => {
  const wire = await openSilentWire(url);
  wire.fallSilent();
  const { db, notices } = await start(wire.url, () => wire.mend());
  assert.deepEqual(notices, [WAITING]);
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }]);
});

test("a start does not wait when the database refuses it", async () => {
  const wire = await openSilentWire(url);
  const ownPort = Number(new URL(wire.url).port);
  const notices: string[] = [];
  const refused = start(toUrl(ownPort).replace(`/${database}`, "/no_such_database"), () => undefined, notices);
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /^The database at DATABASE_URL can't be used: .*no_such_database/);
    return true;
  });
  assert.deepEqual(notices, []);
});
