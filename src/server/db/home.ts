import { AliasNode, IdentifierNode, type OperationNodeSource, TableNode } from "kysely";
import pg from "pg";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import { assert } from "../lib/assert.ts";
import { pause } from "../lib/concurrency/pause.ts";
import { writeHeld } from "./citus/checked-connections.ts";
import { MOVED } from "./citus/home-functions.ts";
import type { Home, Homes } from "./citus/homes.ts";
import type { DISTRIBUTED_TABLES, REFERENCE_TABLES, TABLES_BY_REFERENCE } from "./citus/table-kinds.ts";
import { asCareful } from "./connections/careful-client.ts";
import { DatabaseUnavailable, isDatabaseUnavailable } from "./connections/database-unavailable.ts";
import type { Db } from "./connections/pool.ts";
import { homesOf, OrganizationMoving, poolOf } from "./engine.ts";

// On Citus, the statements that run most often go directly to the server that has the organization's rows, in the form that plain
// PostgreSQL gets. Citus decides where the rows are, and PostgreSQL runs the statements. Everything else goes through Citus. On
// plain PostgreSQL the home of every organization is the database itself.

/** Shards move one after the other; while one moves, the map may lag behind for a moment. */
const TRIES_MAX = 20;
const TRY_PAUSE_MS = 100;

/** Every server has them, or their part of them. */
type HomeTable = (typeof DISTRIBUTED_TABLES | typeof TABLES_BY_REFERENCE | typeof REFERENCE_TABLES)[number];

/** What decides where a row is: its organization, or its reference in the tables that are spread by it. */
type Key = OrganizationId | Reference;

/** A table in a statement that may run at home. Plain text would name the table that is only Citus's front. */
export function table(name: HomeTable, alias: string = name): OperationNodeSource {
  const node = TableNode.create(name);
  return { toOperationNode: () => (alias === name ? node : AliasNode.create(node, IdentifierNode.create(alias))) };
}

/** Reads of one organization, alone or in a transaction that writes nothing. */
export async function readAtHome<T>(db: Db, key: Key, read: (home: Db) => Promise<T>): Promise<T> {
  return await atHome(db, key, ({ reader }) => read(reader));
}

/** A statement that writes rows of one organization, or a transaction: then use `inHome`. */
export async function writeAtHome<T>(db: Db, key: Key, write: (home: Db) => Promise<T>): Promise<T> {
  return await atHome(db, key, ({ writer }) => write(writer));
}

async function atHome<T>(db: Db, key: Key, run: (home: Home) => Promise<T>): Promise<T> {
  if (homesOf(db) === null) return await run(toPlainHome(db));
  const [home] = await inGroups(db, [key], {
    toKey: (each) => each,
    groupBy: (each) => each,
    run: async ([part]) => {
      assert(part, "a group has rows");
      return { result: await run(part.home) };
    },
  });
  assert(home, "one key has one home");
  return home.result;
}

/** The same work in each shard group by itself: a server that is down holds up only its own. Fails once all are done. */
export async function atEveryHome(db: Db, run: (home: Home) => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled((await listHomes(db)).map(run));
  const faults = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  for (const fault of faults) await reloadIfMoved(db, fault);
  const fault = faults.find((each) => !isMoved(db, each));
  if (fault !== undefined) throw fault;
}

/** After a fault at a listed home: if its shard group is elsewhere now, the next list knows. Never rejects. */
export async function reloadIfMoved(db: Db, fault: unknown): Promise<void> {
  if (isMoved(db, fault))
    await homesOf(db)
      ?.reload()
      .catch(() => undefined);
}

/** One for each shard group. The same objects as long as nothing moves. */
export async function listHomes(db: Db): Promise<readonly Home[]> {
  return (await homesOf(db)?.list()) ?? [toPlainHome(db)];
}

/** Reads tables that every server has, from any that answers. */
export async function readAnywhere<T>(
  db: Db,
  read: (home: Db) => Promise<T>,
  triesLeft: number = TRIES_MAX,
): Promise<T> {
  const homes = homesOf(db);
  if (homes === null) return await read(db);
  let failure: unknown = new DatabaseUnavailable("The cluster lists no servers");
  for (const { reader } of await homes.listServers())
    try {
      return await read(reader);
    } catch (error) {
      if (saysMoved(error)) {
        await followMove(homes, error, triesLeft);
        return await readAnywhere(db, read, triesLeft - 1);
      }
      if (!isDatabaseUnavailable(error)) throw error;
      failure = error;
    }
  throw failure;
}

/** Rows with the same home together. If a shard group has moved, its rows are handled again at their new home. */
export async function atHomes<Row extends { readonly organizationId: OrganizationId }, T>(
  db: Db,
  rows: readonly Row[],
  run: (home: Home, rows: readonly Row[]) => Promise<T>,
): Promise<{ readonly rows: readonly Row[]; readonly result: T }[]> {
  const toKey = ({ organizationId }: Row) => organizationId;
  return await inGroups(db, rows, {
    toKey,
    groupBy: (home) => home,
    run: async ([part]) => {
      assert(part, "a group has rows");
      return { rows: part.rows, result: await run(part.home, part.rows) };
    },
  });
}

/** Rows on the same server together. If a shard group has moved, all rows of its server are handled again: `run` is a transaction. */
export async function atServers<Row extends { readonly organizationId: OrganizationId }, T>(
  db: Db,
  rows: readonly Row[],
  run: (parts: readonly Part<Row>[]) => Promise<T>,
): Promise<T[]> {
  const toKey = ({ organizationId }: Row) => organizationId;
  return await inGroups(db, rows, { toKey, groupBy: ({ address }) => address, run });
}

/** The same as `atHomes` for references. */
export async function atHomesOf(
  db: Db,
  references: readonly Reference[],
  run: (home: Home, references: readonly Reference[]) => Promise<void>,
): Promise<void> {
  await inGroups(db, references, {
    toKey: (reference) => reference,
    groupBy: (home) => home,
    run: async ([part]) => part && (await run(part.home, part.rows)),
  });
}

export type Part<Row> = { readonly home: Home; readonly rows: readonly Row[] };

type InGroups<Row, T> = {
  toKey(row: Row): Key;
  /** Homes with the same value are handled together, in the same order each time. */
  groupBy(home: Home): unknown;
  run(parts: readonly Part<Row>[]): Promise<T>;
};

async function inGroups<Row, T>(
  db: Db,
  rows: readonly Row[],
  how: InGroups<Row, T>,
  triesLeft = TRIES_MAX,
): Promise<T[]> {
  const homes = homesOf(db);
  if (rows.length === 0) return [];
  if (homes === null) return [await how.run([{ home: toPlainHome(db), rows }])];
  const byHome = new Map<Home, Row[]>();
  for (const row of rows) {
    const home = homes.findNow(how.toKey(row)) ?? (await homes.find(how.toKey(row)));
    const ofHome = byHome.get(home);
    if (ofHome) ofHome.push(row);
    else byHome.set(home, [row]);
  }
  const parts = [...byHome].map(([home, ofHome]) => ({ home, rows: ofHome }));
  parts.sort((a, b) => (a.home.group?.min ?? 0) - (b.home.group?.min ?? 0));
  const results = [...Map.groupBy(parts, ({ home }) => how.groupBy(home)).values()].map(async (together) => {
    try {
      return [await how.run(together)];
    } catch (error) {
      if (!saysMoved(error)) throw error;
      await followMove(homes, error, triesLeft);
      const moved = together.flatMap((part) => part.rows);
      return await inGroups(db, moved, how, triesLeft - 1);
    }
  });
  return (await Promise.all(results)).flat();
}

/** Before a statement that found its shard group elsewhere is tried again. */
async function followMove(homes: Homes, error: unknown, triesLeft: number): Promise<void> {
  if (triesLeft === 0) throw new OrganizationMoving(error);
  if (triesLeft < TRIES_MAX) await pause(TRY_PAUSE_MS);
  await homes.reload();
}

/** One statement for each home on a server, in one transaction and one round trip: all take effect, or none. */
export async function runTogether<Row>(
  statements: readonly { readonly home: Home; readonly text: string; readonly values: readonly unknown[] }[],
): Promise<Row[][]> {
  const [first] = statements;
  assert(first, "there is a statement");
  const shards = statements.flatMap(({ home }) => home.group?.shard ?? []);
  const client = await first.home.pool.connect();
  try {
    const careful = asCareful(client);
    const results = await (shards.length > 0 ? writeHeld(careful, shards, statements) : careful.queryTogether([first]));
    return results.map(({ rows }) => rows as Row[]);
  } finally {
    client.release();
  }
}

/** Throws while the organization's server answers nobody. Statements through Citus would wait for it, and others for them. */
export async function requireResponding(db: Db, owner: OrganizationId): Promise<void> {
  const silence = (await homesOf(db)?.find(owner))?.pool.silence;
  if (silence) throw silence;
}

/** Equal for rows on the same server. At once, except before the map has been read. */
export function findServer(db: Db, key: Key): string | Promise<string> {
  const home = findHome(db, key);
  return home instanceof Promise ? home.then(({ address }) => address) : home.address;
}

/** The same object for all rows of a home, as in `listHomes`. At once, except before the map has been read. */
export function findHome(db: Db, key: Key): Home | Promise<Home> {
  const homes = homesOf(db);
  return homes === null ? toPlainHome(db) : (homes.findNow(key) ?? homes.find(key));
}

const UNDEFINED_TABLE = "42P01";
/** What Citus says about the number of a shard that was split. */
const UNKNOWN_SHARD = "LookupShardRelationFromCatalog";

/** The statement did nothing, because its shard group is elsewhere now, or was split into others. Never on one server. */
export function isMoved(db: Db, error: unknown): boolean {
  return homesOf(db) !== null && saysMoved(error);
}

function saysMoved(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === MOVED || error.code === UNDEFINED_TABLE || error.routine === UNKNOWN_SHARD;
}

const plainHomes = new WeakMap<Db, Home>();

function toPlainHome(db: Db): Home {
  const known = plainHomes.get(db) ?? {
    reader: db,
    writer: db,
    get pool() {
      return poolOf(db);
    },
    address: "",
    group: null,
  };
  plainHomes.set(db, known);
  return known;
}
