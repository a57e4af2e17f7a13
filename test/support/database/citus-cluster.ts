import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { chooseDatabaseUser, type DatabaseUser } from "../../../src/server/db/embedded/database-user.ts";
import { programOptions, runProgram } from "../../../src/server/db/embedded/run-program.ts";
import { findFreePort } from "../programs/free-port.ts";
import { until } from "../until.ts";

// A Citus cluster on loopback, from an installation that is already on the machine: one coordinator and some workers.

const USER = "postgres";

const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "shared_preload_libraries=citus",
  "max_prepared_transactions=200",
  "wal_level=logical",
  "max_connections=300",
  "max_worker_processes=100",
  "shared_buffers=128MB",
  "jit=off",
  "random_page_cost=1.1",
  "timezone=UTC",
  "lc_messages=C",
  "log_min_messages=error",
  // A backend whose client has given up must not wait for another server for ever.
  "client_connection_check_interval=2s",
  "citus.node_conninfo=sslmode=disable",
  "citus.node_connection_timeout=3000",
  "citus.local_hostname=127.0.0.1",
];
/** Shards are moved and split with Citus's own plugin, which newer minor versions of PostgreSQL 18 must be told to allow. */
const PLUGINS = { name: "output_plugin_libraries", value: "pgoutput,citus" };

/** Nothing in it is worth keeping. */
const CARELESS = [
  "fsync=off",
  "full_page_writes=off",
  "autovacuum=off",
  // Tests let statements fail with triggers.
  "citus.enable_unsafe_triggers=on",
];

/**
 * If a server hangs, its transactions on other servers must not keep their locks. Tests keep some open for longer. It stands in
 * the configuration file: what the command line sets can't be changed while shards move.
 */
const WORKER = ["idle_in_transaction_session_timeout=5s"];

export type CitusCluster = {
  /** The coordinator comes first. */
  readonly nodes: readonly CitusNode[];
  /** Names every node; the coordinator comes first. */
  toUrl(database: string): string;
  /** Starts another server, which is not in the cluster yet. */
  add(): Promise<CitusNode>;
  /** Starts a copy of a server that follows it. */
  addStandby(primary: CitusNode): Promise<CitusNode>;
  close(): Promise<void>;
};

export async function startCitusCluster(options: {
  /** The folder with initdb and postgres. */
  bin: string;
  workers?: number;
  /** Whether what is committed must survive a crash of the machine; tests and their data need not. */
  isDurable: boolean;
  settings?: readonly string[];
}): Promise<CitusCluster> {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-citus-"));
  chmodSync(folder, 0o711);
  const user = chooseDatabaseUser(null);
  const plugins = (await listSettingNames(options.bin, user)).has(PLUGINS.name)
    ? [`${PLUGINS.name}=${PLUGINS.value}`]
    : [];
  const settings = [...SETTINGS, ...plugins, ...(options.isDurable ? [] : CARELESS), ...(options.settings ?? [])];
  const nodes: CitusNode[] = [];
  const close = async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const newNode = () => {
    const name = nodes.length === 0 ? "coordinator" : `worker-${nodes.length}`;
    const own = options.isDurable && nodes.length > 0 ? WORKER : [];
    const node = new CitusNode({
      ...{ name, bin: options.bin, folder: join(folder, name), user },
      settings,
      changeable: own,
    });
    nodes.push(node);
    return node;
  };
  const add = async () => {
    const node = newNode();
    await node.create();
    return node;
  };
  const addStandby = async (primary: CitusNode) => {
    const node = newNode();
    await node.follow(primary);
    return node;
  };
  try {
    // All have ended their start before `close` looks for what must be stopped.
    const started = await Promise.allSettled(Array.from({ length: 1 + (options.workers ?? 2) }, add));
    for (const outcome of started) if (outcome.status === "rejected") throw outcome.reason;
    return {
      nodes,
      add,
      addStandby,
      toUrl: (database) => `postgres://${USER}@${nodes.map(({ address }) => address).join(",")}/${database}`,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type CitusNodeSpec = {
  readonly name: string;
  readonly bin: string;
  readonly folder: string;
  readonly user: DatabaseUser | null;
  /** On the command line. */
  readonly settings: readonly string[];
  /** In the configuration file, so that `alter system` can change them; a standby copies them. */
  readonly changeable: readonly string[];
};

export class CitusNode {
  readonly name: string;
  readonly #spec: CitusNodeSpec;
  #port = 0;
  #child: ChildProcess | null = null;

  constructor(spec: CitusNodeSpec) {
    this.name = spec.name;
    this.#spec = spec;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  get postmasterPid(): number {
    return this.#child?.pid ?? Number.NaN;
  }

  async create(): Promise<void> {
    const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"];
    const changeable = this.#spec.changeable.flatMap((one) => ["--set", one]);
    await this.#fillFolder("initdb", [...locale, "--username", USER, "--auth=trust", "--no-sync", ...changeable]);
    this.#port = await findFreePort();
    await this.start();
  }

  /** As a standby of another server. */
  async follow(primary: CitusNode): Promise<void> {
    const source = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", USER];
    await this.#fillFolder("pg_basebackup", [...source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
    this.#port = await findFreePort();
    await this.start();
  }

  async #fillFolder(program: string, args: readonly string[]): Promise<void> {
    const { bin, folder, user } = this.#spec;
    mkdirSync(folder, { mode: 0o700 });
    if (user) chownSync(folder, user.uid, user.gid);
    const outcome = await runProgram({ file: join(bin, program), args: ["-D", join(folder, "data"), ...args], user });
    if (outcome.kind !== "ended" || outcome.code !== 0)
      throw new Error(`${program} failed: ${outcome.kind === "ended" ? outcome.stderr : outcome.code}`);
  }

  /** On the same port as before. */
  async start(): Promise<void> {
    const { bin, folder, user, settings } = this.#spec;
    const args = ["-D", join(folder, "data"), "-p", String(this.#port), ...settings.flatMap((one) => ["-c", one])];
    const log = openSync(join(folder, "log"), "a");
    this.#child = spawn(join(bin, "postgres"), args, { ...programOptions(user), stdio: ["ignore", log, log] });
    const child = this.#child;
    await until(async () => child.exitCode !== null || (await this.#isReady()), `${this.name} is ready`);
    if (child.exitCode !== null)
      throw new Error(`${this.name} did not start: ${readFileSync(join(folder, "log"), "utf8").slice(-2_000)}`);
  }

  /** Orderly, and resolves when it has ended. */
  async stop(): Promise<void> {
    this.resume();
    await this.#end("SIGINT");
  }

  /** As if its machine had lost power. */
  async kill(): Promise<void> {
    for (const pid of this.#listPids().slice(1)) signal(pid, "SIGKILL");
    await this.#end("SIGKILL");
  }

  /** From now on it accepts connections and answers nobody. */
  hang(): void {
    for (const pid of this.#listPids()) signal(pid, "SIGSTOP");
  }

  resume(): void {
    for (const pid of this.#listPids().toReversed()) signal(pid, "SIGCONT");
  }

  async #end(how: "SIGINT" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(how);
    await ended;
  }

  /** The postmaster comes first. */
  #listPids(): number[] {
    const postmaster = this.#child?.pid;
    if (postmaster === undefined || this.#child?.exitCode !== null || this.#child.signalCode !== null) return [];
    return [postmaster, ...listChildren(postmaster)];
  }

  async #isReady(): Promise<boolean> {
    try {
      await queryOnce(`postgres://${USER}@${this.address}/postgres`, "select 1");
      return true;
    } catch {
      return false;
    }
  }
}

async function listSettingNames(bin: string, user: DatabaseUser | null): Promise<Set<string>> {
  const options = { ...programOptions(user), encoding: "utf8", maxBuffer: Number.POSITIVE_INFINITY } as const;
  const { stdout } = await promisify(execFile)(join(bin, "postgres"), ["--describe-config"], options);
  return new Set(stdout.split("\n").map((line) => line.split("\t")[0] ?? ""));
}

/** None if the process has just ended, which Node may not know yet. */
function listChildren(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return children.split(" ").filter(Boolean).map(Number);
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

function signal(pid: number, what: NodeJS.Signals): void {
  try {
    process.kill(pid, what);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Creates an empty database on every server and makes them one cluster. The URLs name the same database; the coordinator's
 * comes first.
 */
export async function createCitusDatabase(urls: readonly string[]): Promise<void> {
  for (const url of urls) await createDatabase(new URL(url));
  await joinCluster(urls);
}

/** The database that the URL names, empty, on its server. */
export async function createDatabase(url: URL): Promise<void> {
  await queryOnce(withDatabase(url, "postgres"), `create database ${url.pathname.slice(1)}`);
}

/** Makes databases that exist on their servers one cluster. */
export async function joinCluster(urls: readonly string[]): Promise<void> {
  for (const url of urls) await queryOnce(url, "create extension citus");
  const [coordinator, ...workers] = urls.map((url) => new URL(url));
  if (!coordinator) return;
  const { hostname, port } = coordinator;
  await queryOnce(coordinator.href, `select citus_set_coordinator_host('${hostname}', ${port})`);
  for (const worker of workers)
    await queryOnce(coordinator.href, `select citus_add_node('${worker.hostname}', ${worker.port})`);
}

function withDatabase(url: URL, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

export async function queryOnce<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
