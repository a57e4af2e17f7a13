import { statfsSync } from "node:fs";
import { totalmem } from "node:os";

/** Where the server listens: a socket inside the cluster's folder, or a loopback port where that is impossible. */
export type Address = { kind: "socket" } | { kind: "tcp"; port: number };

/** PostgreSQL names its socket after a port even if it listens on none. */
export const SOCKET_PORT = 5432;

const MIB = 1024 * 1024;

/** Passed on the command line, so that a new version of Bookflow applies its settings to an existing cluster. */
export function toServerArguments(address: Address): string[] {
  return [...toListenSettings(address), ...logSettings, ...toMemorySettings(), ...recoverySettings].flatMap(
    (setting) => ["-c", setting],
  );
}

function toListenSettings(address: Address): string[] {
  return address.kind === "socket"
    ? // Relative to the cluster's folder, which needs no quoting whatever the folder is called.
      ["listen_addresses=", "unix_socket_directories=.", "unix_socket_permissions=0700", `port=${SOCKET_PORT}`]
    : ["listen_addresses=127.0.0.1", "unix_socket_directories=", `port=${address.port}`];
}

/**
 * Customers' data must not reach the log: no statements, no parameters, no DETAIL lines (they contain row values).
 * Error messages can quote values too, so our connections log no errors at all: see `toSetUp` in create-cluster.ts.
 */
const logSettings = [
  "log_destination=stderr",
  "logging_collector=off",
  "log_line_prefix=%m [%p] %e ",
  "log_min_messages=warning",
  "log_min_error_statement=panic",
  "log_error_verbosity=terse",
  "log_statement=none",
  "log_min_duration_statement=-1",
  "log_parameter_max_length=0",
  "log_parameter_max_length_on_error=0",
  "log_checkpoints=off",
  "timezone=UTC",
  "log_timezone=UTC",
  "lc_messages=C",
];

function toMemorySettings(): string[] {
  const limit = process.constrainedMemory();
  const memoryMib = Math.min(totalmem(), limit > 0 ? limit : Number.POSITIVE_INFINITY) / MIB;
  return [
    "max_connections=100",
    `shared_buffers=${Math.round(Math.min(1024, Math.max(128, memoryMib / 8)))}MB`,
    // Imports write a lot at once; with less, PostgreSQL would write whole pages again and again.
    "max_wal_size=2GB",
    `effective_cache_size=${Math.max(256, Math.floor(memoryMib / 2))}MB`,
    "random_page_cost=1.1",
    "jit=off",
    // A plan that was made while its table was empty stays in use until the first analyze, which by default takes up to a minute.
    "autovacuum_naptime=10s",
    ...(hasRoomForSharedMemory() ? [] : ["dynamic_shared_memory_type=mmap"]),
  ];
}

/** After a crash, one call makes all files safe instead of one call each. */
const recoverySettings = process.platform === "linux" ? ["recovery_init_sync_method=syncfs"] : [];

/** Containers often have only 64 MB of /dev/shm, which one parallel query can fill, so files are used instead. */
function hasRoomForSharedMemory(): boolean {
  if (process.platform !== "linux") return true;
  try {
    const { blocks, bsize } = statfsSync("/dev/shm");
    return blocks * bsize >= 512 * MIB;
  } catch {
    return false;
  }
}

export function toUrl(spec: { address: Address; clusterFolder: string; password: string }): string {
  const port = spec.address.kind === "socket" ? SOCKET_PORT : spec.address.port;
  const parameters = ["sslmode=disable"];
  if (spec.address.kind === "socket") parameters.unshift(`host=${encodeURIComponent(spec.clusterFolder)}`);
  return `postgres://bookflow:${spec.password}@127.0.0.1:${port}/bookflow?${parameters.join("&")}`;
}
