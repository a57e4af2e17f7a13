import type { Socket } from "node:net";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { assert } from "../lib/assert.ts";
import type { Log } from "../lib/log.ts";
import { limitSilence } from "../lib/silence-limit.ts";
import type { Tables } from "./tables.ts";

export type Db = Kysely<Tables>;

export type Pool = pg.Pool;

const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;

const DATE_OID = 1082;
const INT8_OID = 20;

/** Days stay text (a Date would put them into some time zone); counts fit a double for longer than we live. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") => {
    if (oid === DATE_OID) return (value: string) => value;
    if (oid === INT8_OID) return Number;
    return pg.types.getTypeParser(oid, format as "text");
  }) as pg.CustomTypesConfig["getTypeParser"],
};

/** A statement that begins with this is planned once per connection, under the name that follows. */
const PREPARED = "-- prepared: ";

/**
 * A statement takes milliseconds, and a commit too. Without an answer for so long the server is taken for lost: the operating
 * system itself would notice one that has vanished from the network after a quarter of an hour. Whether what was asked has
 * been done is unknown then; whoever asked gets an error.
 */
const SILENCE_LIMIT_MS = 15_000;

/** A connection without traffic is asked after so long whether it still stands: one that listens, or waits for a long statement. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Planning the largest statements takes longer than running them; node-postgres prepares what has a name. It is always given
 * a callback: of the promises that it makes itself, each keeps the rows of the one before it in memory, until the old
 * generation is collected, which then happened ten times as often.
 */
class CarefulClient extends pg.Client {
  /** Null: waits for as long as it takes. */
  silenceLimitMs: number | null = null;
  #silence: Error | null = null;

  // The types of pg.Client's many overloads cannot be written down again; the arguments pass through as they are.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...args: any[]): any {
    const [text, values] = args;
    const name =
      typeof text === "string" && text.startsWith(PREPARED) ? text.slice(PREPARED.length, text.indexOf("\n")) : null;
    // biome-ignore lint/suspicious/noExplicitAny: see above
    const query = super.query as (...all: any[]) => any;
    if (typeof text.submit === "function" || typeof args.at(-1) === "function") return query.apply(this, args);
    if (this.#silence) return Promise.reject(this.#silence);
    const { promise, resolve, reject } = Promise.withResolvers();
    const callback = (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result));
    query.call(this, name === null ? text : { name, text }, values, callback);
    return this.silenceLimitMs === null ? promise : limitSilence(promise, this.silenceLimitMs, () => this.#cutOff());
  }

  /** Its statement fails, what its transaction goes on to ask does too, and the pool does not use it again. */
  #cutOff(): void {
    this.#silence = new Error("The database did not answer");
    // The connection is public in the code of node-postgres, and missing in its types.
    const { connection } = this as unknown as { connection: { stream: Socket } };
    connection.stream.destroy(this.#silence);
  }
}

export function openPool(options: {
  url: string;
  size: number;
  log: Log;
  /** Tests have a shorter one. */
  silenceLimitMs?: number;
}): Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: "bookflow",
    types,
    Client: CarefulClient,
  });
  pool.on("acquire", (client) => limitClient(client, options.silenceLimitMs ?? SILENCE_LIMIT_MS));
  // One that breaks while in use fails its statement. It also says so itself, which without a listener ends the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  // A connection that breaks while idle: the pool has replaced it already, and the next statement gets a new one. One that is
  // being closed may hear from an embedded server that it stops.
  pool.on("error", (error) => {
    if (!pool.ending) options.log.warn("database.connection_lost", { error });
  });
  return pool;
}

export function openDb(pool: Pool): Db {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** The same connections, for what may take long: its statements have no limit. */
export function openPatientDb(pool: Pool): Db {
  const patient = { connect: () => connectPatiently(pool), end: () => pool.end(), options: pool.options };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: patient }) });
}

/** Without a limit until it is given back. */
export async function connectPatiently(pool: Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  limitClient(client, null);
  return client;
}

function limitClient(client: pg.PoolClient, limitMs: number | null): void {
  assert(client instanceof CarefulClient, "the pool makes no other clients");
  client.silenceLimitMs = limitMs;
}
