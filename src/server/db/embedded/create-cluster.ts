import { createHash, randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { StartError } from "../../lib/start-error.ts";
import type { Binaries } from "./binaries.ts";
import { type DatabaseUser, withRightsOf } from "./database-user.ts";
import { diskFullSentence, errorCode, toStartError } from "./file-fault.ts";
import { dataFolderPaths, makeOpenFolder } from "./folders.ts";
import { runProgram } from "./run-program.ts";

/**
 * Passwords are stored inside the cluster, so that they are created, moved and copied with it. The service reads only
 * its own.
 */
export const PASSWORD_FILE = "bookflow-password";
/** For the role `postgres`, which operators use for repairs. */
export const SUPERUSER_PASSWORD_FILE = "superuser-password";

type CreationSpec = {
  dataDir: string;
  sharedFolder: string;
  user: DatabaseUser | null;
  binaries: Binaries;
  notice: (sentence: string) => void;
};

/** The cluster's folder, and the temporary folder that is renamed to it when complete. */
type ClusterPaths = { folder: string; unfinished: string };

/**
 * Creates the cluster and returns its folder. A cluster exists only once it is complete: if this is interrupted, the
 * next start finds no cluster, removes the leftovers and begins again.
 */
export async function createCluster(spec: CreationSpec): Promise<string> {
  const link = dataFolderPaths(spec.dataDir).cluster;
  try {
    const paths = await choosePaths(spec, link);
    try {
      spec.notice(`Creating the database in ${paths.folder}.`);
      await fillCluster(spec, paths);
      await rename(join(paths.unfinished, "cluster"), paths.folder);
      syncFolder(dirname(paths.folder));
      if (paths.folder !== link) {
        symlinkSync(paths.folder, link);
        spec.notice(
          `The database is kept in ${paths.folder}, because the user ${spec.user?.name}, who runs PostgreSQL for root, can't access ${spec.dataDir}.`,
        );
      }
      return paths.folder;
    } finally {
      await rm(paths.unfinished, { recursive: true, force: true });
    }
  } catch (error) {
    throw toStartError(error, spec.dataDir);
  }
}

async function choosePaths(spec: CreationSpec, link: string): Promise<ClusterPaths> {
  const besideLink = `${link}.new-`;
  await clearUnfinished(besideLink);
  const unfinished = makeFolderFor(spec.user, besideLink);
  if (unfinished !== null) return { folder: link, unfinished };

  // The name starts with the data folder's, so that leftovers can be found, and ends with random letters: a cluster
  // whose data folder was deleted is neither reused nor destroyed.
  const name = createHash("sha256").update(spec.dataDir).digest("hex").slice(0, 12);
  const besideShared = join(spec.sharedFolder, `${name}.new-`);
  makeOpenFolder(spec.sharedFolder);
  await clearUnfinished(besideShared);
  const shared = makeFolderFor(spec.user, besideShared);
  if (shared === null) {
    throw new StartError(
      `PostgreSQL doesn't run as root, and the user ${spec.user?.name} can use neither ${spec.dataDir} nor ${spec.sharedFolder}. Start Bookflow as an ordinary user, or set DATABASE_URL.`,
    );
  }
  return { folder: join(spec.sharedFolder, `${name}-${randomBytes(4).toString("hex")}`), unfinished: shared };
}

/** A new folder that the user can really work in, or null if permissions prevent that. */
function makeFolderFor(user: DatabaseUser | null, prefix: string): string | null {
  const folder = mkdtempSync(prefix);
  if (user === null) return folder;
  try {
    chownSync(folder, user.uid, user.gid);
    withRightsOf(user, () => mkdirSync(join(folder, "cluster"), { mode: 0o700 }));
    return folder;
  } catch (error) {
    // EINVAL: a container whose only user is root.
    if (!["EACCES", "EPERM", "EINVAL"].includes(errorCode(error) ?? "")) throw error;
    rmSync(folder, { recursive: true });
    return null;
  }
}

async function clearUnfinished(prefix: string): Promise<void> {
  for (const name of readdirSync(dirname(prefix))) {
    const path = join(dirname(prefix), name);
    if (path.startsWith(prefix)) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function fillCluster({ user, binaries }: CreationSpec, paths: ClusterPaths): Promise<void> {
  const folder = join(paths.unfinished, "cluster");
  const passwords = { [PASSWORD_FILE]: makePassword(), [SUPERUSER_PASSWORD_FILE]: makePassword() };
  for (const [name, password] of Object.entries(passwords)) writeSecret(join(paths.unfinished, name), password, user);
  // The builtin C.UTF-8 orders by code point, so indexes never depend on the machine's libraries, and lower() knows all letters.
  const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"];
  const passwordFile = join(paths.unfinished, SUPERUSER_PASSWORD_FILE);
  const access = ["--username=postgres", `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
  const init = ["-D", folder, ...locale, ...access, "--no-instructions"];
  await runStep({ file: binaries.initdb, args: init, user }, paths.folder);
  const single = ["--single", "-D", folder, "-c", "exit_on_error=on", "template1"];
  const input = toSetUp(passwords[PASSWORD_FILE] ?? "");
  await runStep({ file: binaries.postgres, args: single, user, input }, paths.folder);
  for (const name of Object.keys(passwords)) await rename(join(paths.unfinished, name), join(folder, name));
}

function makePassword(): string {
  return randomBytes(24).toString("hex");
}

/**
 * The service's role owns its database and is not a superuser, so a stolen connection gives no access to the machine's
 * files or programs. Its errors are not logged, because their messages can quote customers' data.
 */
function toSetUp(password: string): string {
  return `create role bookflow login password '${password}'
alter role bookflow set log_min_messages = 'log'
create database bookflow owner bookflow
`;
}

function writeSecret(path: string, secret: string, user: DatabaseUser | null): void {
  writeFileSync(path, `${secret}\n`, { mode: 0o600, flag: "wx" });
  if (user !== null) chownSync(path, user.uid, user.gid);
}

async function runStep(program: Parameters<typeof runProgram>[0], folder: string): Promise<void> {
  const outcome = await runProgram(program);
  if (outcome.kind === "ended" && outcome.code === 0) return;
  // These programs report no codes, only text, which is English because their language is set to C.
  const lines = outcome.kind === "ended" ? outcome.stderr.split("\n") : [outcome.code];
  if (lines.some((line) => line.includes("No space left on device"))) throw new StartError(diskFullSentence(folder));
  const why = lines.find((line) => /error:|FATAL:|PANIC:/.test(line)) ?? lines.findLast((line) => line !== "") ?? "";
  throw new StartError(`The database could not be created in ${folder}: ${why.trim()}.`);
}

function syncFolder(folder: string): void {
  // Windows cannot open a folder and doesn't need this call.
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  fsyncSync(handle);
  closeSync(handle);
}
