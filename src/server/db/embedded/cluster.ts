import { lstatSync, readdirSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../../lib/start-error.ts";
import { type Binaries, prepareBinaries } from "./binaries.ts";
import { createCluster, PASSWORD_FILE } from "./create-cluster.ts";
import { chooseDatabaseUser, type DatabaseUser, withRightsOf } from "./database-user.ts";
import { errorCode, toStartError } from "./file-fault.ts";
import { dataFolderPaths } from "./folders.ts";

/** A cluster is what PostgreSQL calls one folder of databases with one server. */
export type Cluster = { folder: string; user: DatabaseUser | null; binaries: Binaries; password: string };

/** Finds the cluster of the data folder, or creates it. */
export async function prepareCluster(spec: {
  dataDir: string;
  sharedFolder: string;
  notice: (sentence: string) => void;
}): Promise<Cluster> {
  const found = findCluster(dataFolderPaths(spec.dataDir).cluster);
  const user = chooseDatabaseUser(found?.stat ?? null);
  const copyFolder = user === null ? spec.dataDir : spec.sharedFolder;
  const binaries = await prepareBinaries({ user, copyFolder });
  const folder = found?.folder ?? realpathSync(await createCluster({ ...spec, user, binaries }));
  checkCluster({ folder, user, binaries });
  const password = readFileSync(join(folder, PASSWORD_FILE), "utf8").trim();
  return { folder, user, binaries, password };
}

function findCluster(path: string): { folder: string; stat: Stats } | null {
  let linked: Stats;
  try {
    linked = lstatSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw toStartError(error, path);
  }
  try {
    const folder = realpathSync(path);
    return { folder, stat: statSync(folder) };
  } catch (error) {
    // A broken link means that the data is elsewhere. Creating an empty database would hide that.
    if (!linked.isSymbolicLink() || errorCode(error) !== "ENOENT") throw toStartError(error, path);
    throw new StartError(
      `${path} points to a database folder that no longer exists; restore it, or remove the link to start empty.`,
    );
  }
}

function checkCluster({ folder, user, binaries }: Pick<Cluster, "folder" | "user" | "binaries">): void {
  const own = process.getuid?.();
  if (user === null && own !== undefined && statSync(folder).uid !== own) {
    throw new StartError(`The database in ${folder} belongs to another user. Start Bookflow as that user or as root.`);
  }
  try {
    if (user !== null) withRightsOf(user, () => readdirSync(folder));
  } catch (cause) {
    throw new StartError(
      `PostgreSQL runs as the user ${user?.name}, who can't access ${folder}. Run chmod o+x on its parent folders.`,
      { cause },
    );
  }
  const version = readClusterVersion(folder);
  if (version !== binaries.major) {
    throw new StartError(
      `The database in ${folder} was created by PostgreSQL ${version}, but this Bookflow includes PostgreSQL ${binaries.major}. Set DATABASE_URL to a server of that version, or move the data over with pg_dump.`,
    );
  }
}

function readClusterVersion(folder: string): string {
  try {
    return readFileSync(join(folder, "PG_VERSION"), "utf8").trim();
  } catch (cause) {
    if (errorCode(cause) !== "ENOENT" && errorCode(cause) !== "ENOTDIR") throw toStartError(cause, folder);
    throw new StartError(
      `${folder} is not a PostgreSQL database; move it elsewhere, or set DATA_DIR to another folder.`,
      {
        cause,
      },
    );
  }
}
