import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ListenOptions } from "node:net";
import { join } from "node:path";
import { errorCode } from "./file-fault.ts";
import { dataFolderPaths } from "./folders.ts";
import { type Address, SOCKET_PORT } from "./settings.ts";

/** Operating systems limit socket paths to 103 to 107 bytes. */
const SOCKET_PATH_LIMIT_BYTES = 100;

/**
 * A socket if possible; otherwise a port, the same as last time if it is free, because clients may still hold its URL.
 */
export async function chooseAddress(spec: { dataDir: string; clusterFolder: string }): Promise<Address> {
  if (await canUseSocket(spec.clusterFolder)) return { kind: "socket" };
  const file = dataFolderPaths(spec.dataDir).port;
  const last = readLastPort(file);
  const port = (last === null ? null : await tryListen({ host: "127.0.0.1", port: last })) ?? (await findFreePort());
  writeFileSync(file, `${port}\n`, { mode: 0o600 });
  return { kind: "tcp", port };
}

/** Some mounted file systems don't support sockets, so this tries to create one. */
async function canUseSocket(folder: string): Promise<boolean> {
  const path = join(folder, `.s.PGSQL.${SOCKET_PORT}`);
  if (process.platform === "win32" || Buffer.byteLength(path) > SOCKET_PATH_LIMIT_BYTES) return false;
  const probe = join(folder, ".s.probe");
  rmSync(probe, { force: true });
  return (await tryListen({ path: probe })) !== null;
}

export async function isPortTaken(port: number): Promise<boolean> {
  return (await tryListen({ host: "127.0.0.1", port })) === null;
}

async function findFreePort(): Promise<number> {
  const port = await tryListen({ host: "127.0.0.1", port: 0 });
  if (port === null) throw new Error("No port is free on 127.0.0.1.");
  return port;
}

/** Listens briefly and returns the port (0 for a socket), or null if that fails. */
function tryListen(where: ListenOptions): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(where, () => {
      const bound = server.address();
      server.close(() => resolve(bound !== null && typeof bound === "object" ? bound.port : 0));
    });
  });
}

function readLastPort(file: string): number | null {
  try {
    const port = Number(readFileSync(file, "utf8"));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}
