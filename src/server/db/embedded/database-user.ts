import { readFileSync, type Stats } from "node:fs";
import { StartError } from "../../lib/start-error.ts";

/** PostgreSQL refuses to run as root; root's database runs as this user instead. */
export type DatabaseUser = { name: string; uid: number; gid: number };

const CANDIDATES = ["postgres", "_postgres", "nobody", "daemon"];

/**
 * Null means the current user: an ordinary user, or Windows. For root it is the owner of the existing cluster, so a
 * folder keeps working when a user called postgres is added later, or when root opens an ordinary user's folder.
 */
export function chooseDatabaseUser(cluster: Stats | null): DatabaseUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readUsers();
  if (cluster !== null && cluster.uid !== 0) {
    const name = users.find((user) => user.uid === cluster.uid)?.name ?? `number ${cluster.uid}`;
    return { name, uid: cluster.uid, gid: cluster.gid };
  }
  for (const name of CANDIDATES) {
    const user = users.find((one) => one.name === name && one.uid > 0);
    if (user) return user;
  }
  throw new StartError(
    "PostgreSQL doesn't run as root, and there is no user postgres, nobody or daemon to run it. Start Bookflow as an ordinary user, or set DATABASE_URL.",
  );
}

function readUsers(): DatabaseUser[] {
  return readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

/**
 * Runs file calls with the rights of the database user, the only reliable way to check access. Synchronous, because the
 * rights change for every thread of the process until it returns.
 */
export function withRightsOf<T>(user: DatabaseUser, work: () => T): T {
  const { setgroups, setegid, seteuid, getgroups } = process;
  if (!setgroups || !setegid || !seteuid || !getgroups) throw new Error("This system has no user ids.");
  const groups = getgroups();
  setgroups([user.gid]);
  setegid(user.gid);
  seteuid(user.uid);
  try {
    return work();
  } finally {
    seteuid(0);
    setegid(0);
    setgroups(groups);
  }
}
