import { Kysely } from "kysely";
import pg from "pg";
import type { Log } from "../../lib/log/log.ts";
import { listHostUrls } from "../../lib/text/host-urls.ts";
import { checkFirst, READ_ONLY } from "../citus/checked-connections.ts";
import { type Home, Homes } from "../citus/homes.ts";
import { READ_SHARDS, type ShardGroup, type ShardRow } from "../citus/shard-map.ts";
import { type Engine, EngineDialect } from "../engine.ts";
import type { Tables } from "../tables/tables.ts";
import { asCareful, CarefulClient } from "./careful-client.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";
import { SilenceWatch, TICK_MS } from "./silence-watch.ts";

export type Db = Kysely<Tables>;

/** Also limits waiting for another statement to return its connection. */
const CONNECT_TIMEOUT_MS = 4_000;
const IDLE_TIMEOUT_MS = 30_000;

const DATE_OID = 1082;
const INT8_OID = 20;

/** Days stay strings (a Date would need a time zone), and counts fit into a double. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") => {
    if (oid === DATE_OID) return (value: string) => value;
    if (oid === INT8_OID) return Number;
    return pg.types.getTypeParser(oid, format as "text");
  }) as pg.CustomTypesConfig["getTypeParser"],
};

const FIND_CITUS = "select from pg_extension where extname = 'citus'";

/**
 * Statements and commits take milliseconds. If one connection gets no reply for this long while others do, it is
 * considered lost: the operating system would notice a broken one only after a quarter of an hour. Whether the
 * statement ran is then unknown, and the caller gets an error. A server that answers nobody is noticed sooner:
 * silence-watch.ts.
 */
const STATEMENT_LIMIT_MS = 15_000;

/** An idle connection is checked by the operating system after this long: one that listens, or waits for a long statement. */
const KEEP_ALIVE_MS = 10_000;

type PoolOptions = {
  log: Log;
  statementLimitMs: number;
  /** Set for connections to one server of a cluster that run statements on its own tables. Called when it can't be reached. */
  onHomeLost?: () => void;
};

/** Connections that are dropped, without waiting, if the database does not answer. */
export class Pool extends pg.Pool {
  /** What the database said on the last new connection. */
  engine: Engine = "postgresql";
  readonly #onHomeLost: (() => void) | null;
  readonly #homes: Homes;
  readonly #homePools = new Map<string, Pool>();
  readonly #watch: SilenceWatch;
  readonly #statementLimitMs: number;
  readonly #clients = new Set<CarefulClient>();
  /** Each call gives up one wait for a connection. */
  readonly #acquiring = new Set<(fault: DatabaseUnavailable) => void>();
  readonly #timer: NodeJS.Timeout;

  constructor(settings: pg.PoolConfig, options: PoolOptions) {
    super({ ...settings, Client: CarefulClient, pipeline: true });
    this.#onHomeLost = options.onHomeLost ?? null;
    this.#homes = new Homes({
      readShards: () => this.#readShards(),
      openHome: (group) => this.#openHome(group, settings, options),
    });
    this.#watch = new SilenceWatch({
      probe: () => probeServer(settings),
      isSomeoneWaiting: () => this.#acquiring.size > 0 || this.#listImpatient().some(({ waitedTicks }) => waitedTicks),
      onSilent: (fault) => this.#giveUp(fault),
      log: options.log,
    });
    this.#statementLimitMs = options.statementLimitMs;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.on("connect", (client) => this.#watchClient(client));
    this.on("release", (_error, client) => asCareful(client).finish());
    this.on("remove", (client) => this.#clients.delete(asCareful(client)));
    // A connection broke while idle: the pool has already replaced it, and the next statement gets a new one. A connection
    // being closed may also hear from an embedded server that it is stopping.
    this.on("error", (error) => {
      if (!this.ending && !(error instanceof DatabaseUnavailable))
        options.log.warn("database.connection_lost", { error });
    });
  }

  /** Where organizations are; null unless this is a cluster. */
  get homes(): Homes | null {
    return this.engine === "citus" ? this.#homes : null;
  }

  #openHome(group: ShardGroup, settings: pg.PoolConfig, options: PoolOptions): Home {
    const { address, shard } = group;
    const pool =
      this.#homePools.get(address) ??
      new Pool(
        { ...settings, connectionString: toUrl(settings.connectionString ?? "", address) },
        { ...options, onHomeLost: () => this.#homes.doubt() },
      );
    this.#homePools.set(address, pool);
    const toDb = (how: { writes: boolean }) =>
      new Kysely<Tables>({ dialect: new EngineDialect(pool, checkFirst(pool, shard, how), group) });
    return { reader: toDb({ writes: false }), writer: toDb({ writes: true }), pool, address, group };
  }

  /** While the coordinator is away, the other servers know as much. */
  async #readShards(): Promise<ShardRow[]> {
    let failure: unknown;
    for (const pool of [this, ...this.#homePools.values()])
      try {
        return (await pool.query<ShardRow>(READ_SHARDS)).rows;
      } catch (error) {
        failure ??= error;
      }
    throw failure;
  }

  /** Why no statement can run now; null while the server answers. */
  get silence(): DatabaseUnavailable | null {
    return this.#watch.silence;
  }

  // Both forms of pg.Pool.connect; its own query() uses the one with a callback.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override connect(callback?: any): any {
    if (callback === undefined) return this.#acquire();
    this.#acquire().then(
      (client) => callback(undefined, client, client.release),
      (error: unknown) => callback(error, undefined, () => undefined),
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: both forms of pg.Pool.end
  override end(...callback: any[]): any {
    clearInterval(this.#timer);
    for (const pool of this.#homePools.values()) pool.end().catch(() => undefined);
    return (super.end as (...all: unknown[]) => unknown).apply(this, callback);
  }

  #acquire(): Promise<pg.PoolClient> {
    if (this.silence) {
      // A standby may have taken over at another address.
      this.#onHomeLost?.();
      return Promise.reject(this.silence);
    }
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
    this.#acquiring.add(reject);
    super.connect((error, client) => {
      const isWaitedFor = this.#acquiring.delete(reject);
      if (!client) {
        this.#onHomeLost?.();
        reject(toAcquisitionFault(error));
      } else if (isWaitedFor) resolve(client);
      else client.release();
    });
    return promise;
  }

  #watchClient(client: pg.PoolClient): void {
    const careful = asCareful(client);
    careful.watch = this.#watch;
    this.#watch.heard();
    this.#clients.add(careful);
    // A connection that breaks while in use fails its statement. It also emits an error, which without a listener would end
    // the process.
    careful.on("error", (error) =>
      careful.fail(new DatabaseUnavailable("The connection to the database broke", error)),
    );
    // Runs before whatever is asked first. If it fails, the connection is not used again.
    careful.query(this.#onHomeLost ? READ_ONLY : FIND_CITUS).then(
      ({ rows }: pg.QueryResult) => {
        if (!this.#onHomeLost) this.engine = rows.length === 0 ? "postgresql" : "citus";
      },
      (error: unknown) => careful.cutOff(new DatabaseUnavailable("The connection to the database broke", error)),
    );
  }

  #listImpatient(): CarefulClient[] {
    return [...this.#clients].filter((client) => !client.isPatient);
  }

  #tick(): void {
    for (const client of this.#clients) {
      if (client.waitedTicks === null) continue;
      client.waitedTicks++;
      if (!client.isPatient && client.waitedTicks * TICK_MS >= this.#statementLimitMs)
        client.cutOff(new DatabaseUnavailable("The database did not respond"));
    }
    this.#watch.tick();
  }

  #giveUp(fault: DatabaseUnavailable): void {
    for (const reject of this.#acquiring) reject(fault);
    this.#acquiring.clear();
    // Idle ones too: new connections show whether the database works again.
    for (const client of this.#listImpatient()) client.cutOff(fault);
  }
}

/** On a cluster, the first server that the URL names is the coordinator, and the coordinator knows the others. */
export function openPool(options: { url: string; size: number; log: Log }): Pool {
  const settings = {
    connectionString: listHostUrls(options.url)[0] ?? "",
    max: options.size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: "bookflow",
    types,
  };
  return new Pool(settings, { log: options.log, statementLimitMs: STATEMENT_LIMIT_MS });
}

/** The same database, user and options at another address. */
function toUrl(url: string, address: string): string {
  return url.replace(/^([a-z]+:\/\/(?:[^@/]*@)?)[^/?]*/, `$1${address}`);
}

/** A refusal is also a reply from the server, for example too many connections. */
async function probeServer(settings: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(settings);
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
  } finally {
    client.end().catch(() => undefined);
  }
}

/** PostgreSQL's refusals keep their code: a wrong password is not an outage. */
function toAcquisitionFault(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? error : new DatabaseUnavailable("The database can't be reached", error);
}

export function openDb(pool: Pool): Db {
  return new Kysely<Tables>({ dialect: new EngineDialect(pool, pool) });
}

/** The same connections for long work: statements have no time limit. */
export function openLongRunningDb(pool: Pool): Db {
  const patient = { connect: () => connectPatiently(pool), end: () => pool.end(), options: pool.options };
  return new Kysely<Tables>({ dialect: new EngineDialect(pool, patient) });
}

/** Unlimited until it is returned. */
export async function connectPatiently(pool: Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  asCareful(client).isPatient = true;
  return client;
}
