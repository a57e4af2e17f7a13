import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import {
  type ClientProcess,
  isRoot,
  makeTestFolder,
  query,
  startClient,
  untilNoneRuns,
  urlOf,
} from "../../../../test/support/database/embedded/processes.ts";

const { folder, shared } = makeTestFolder();
const oddPath = join(folder, `a b, "c" 'd' 📅 é`);
/** An ordinary user: the one running the tests, or for root, one that every system has. */
const ordinary = isRoot ? { user: { uid: 65_534, gid: 65_534 } } : {};
const canBecomeOrdinary = !isRoot || canRunNodeAs(65_534);
const onlyForRoot = { skip: !isRoot && "needs root" };
const onlyWhereOrdinary = { skip: !canBecomeOrdinary && "the checkout is closed to ordinary users" };

test("an ordinary user's database is in the data folder, closed to others", onlyWhereOrdinary, async () => {
  const dataDir = join(makeOrdinaryFolder("ordinary"), "data");
  const client = await startClient({ dataDir, shared, ...ordinary });
  assert.deepEqual(await query(urlOf(client), "select 1 as value"), [{ value: 1 }]);
  await client.release();
  assert.equal(statSync(dataDir).mode & 0o777, 0o700);
  assert.equal(lstatSync(join(dataDir, "postgres")).isDirectory(), true);
  await untilNoneRuns(dataDir);
});

test("root can open an ordinary user's database, and its owner can use it again afterwards", onlyForRoot, async (t) => {
  if (!canBecomeOrdinary) return t.skip("the checkout is closed to ordinary users");
  const dataDir = join(folder, "ordinary", "data");
  const asRoot = await startClient({ dataDir, shared });
  assert.deepEqual(await query(urlOf(asRoot), "select 1 as value"), [{ value: 1 }]);
  await asRoot.release();
  const asOrdinary = await startClient({ dataDir, shared, ...ordinary });
  assert.equal(urlOf(asOrdinary), urlOf(asRoot));
  await asOrdinary.release();
});

test("an unwritable folder is named in a one-line error", onlyWhereOrdinary, async () => {
  const dataDir = makeOrdinaryFolder("read-only");
  chmodSync(dataDir, 0o555);
  const client = await startClient({ dataDir, shared, ...ordinary });
  assertFailed(
    client,
    `No permission to write to ${dataDir}. Start Bookflow as the user who owns it, or set DATA_DIR to another folder.`,
  );
});

test("a file in place of the data folder is named in a one-line error", async () => {
  const dataDir = join(folder, "file");
  writeFileSync(dataDir, "");
  assertFailed(await startClient({ dataDir, shared }), `${dataDir} is not a folder. Set DATA_DIR to a folder.`);
});

test("spaces, quotes, commas and emoji in the path work", async () => {
  const dataDir = oddPath;
  const client = await startClient({ dataDir, shared });
  assert.deepEqual(await query(urlOf(client), "select current_setting('listen_addresses') as addresses"), [
    { addresses: "" },
  ]);
  await client.release();
  await untilNoneRuns(dataDir);
});

test("a path too long for a socket uses a loopback port, the same one next time if it is free", async (t) => {
  const dataDir = join(folder, "long 📅 path ".repeat(8));
  const first = await startClient({ dataDir, shared });
  assert.deepEqual(await query(urlOf(first), "select current_setting('listen_addresses') as addresses"), [
    { addresses: "127.0.0.1" },
  ]);
  await first.release();
  const second = await startClient({ dataDir, shared });
  assert.equal(urlOf(second), urlOf(first));
  await second.release();

  const other = createServer().listen(Number(new URL(urlOf(first)).port), "127.0.0.1");
  t.after(() => other.close());
  const third = await startClient({ dataDir, shared });
  assert.notEqual(urlOf(third), urlOf(first));
  assert.deepEqual(await query(urlOf(third), "select 1 as value"), [{ value: 1 }]);
  await third.release();
  await untilNoneRuns(dataDir);
});

test("a database created by another PostgreSQL version gives a one-line error and is not touched", async () => {
  const dataDir = join(folder, "old");
  mkdirSync(join(dataDir, "postgres"), { recursive: true });
  writeFileSync(join(dataDir, "postgres", "PG_VERSION"), "16\n");
  if (isRoot)
    for (const path of ["", "postgres", "postgres/PG_VERSION"]) chownSync(join(dataDir, path), 65_534, 65_534);
  const client = await startClient({ dataDir, shared });
  assertFailed(
    client,
    `The database in ${dataDir}/postgres was created by PostgreSQL 16, but this Bookflow includes PostgreSQL 18. Set DATABASE_URL to a server of that version, or move the data over with pg_dump.`,
  );
  assert.deepEqual(readdirSync(join(dataDir, "postgres")), ["PG_VERSION"]);
  await untilNoneRuns(dataDir);
});

test("a link to a missing database does not create an empty one", async () => {
  const dataDir = join(folder, "dangling");
  mkdirSync(dataDir);
  symlinkSync(join(folder, "nowhere"), join(dataDir, "postgres"));
  assertFailed(
    await startClient({ dataDir, shared }),
    `${dataDir}/postgres points to a database folder that no longer exists; restore it, or remove the link to start empty.`,
  );
});

test("a broken cluster gives a one-line error with PostgreSQL's reason", async () => {
  const dataDir = oddPath;
  renameSync(join(dataDir, "postgres", "global"), join(dataDir, "postgres", "global.away"));
  const { word } = await startClient({ dataDir, shared });
  assert.equal(word.kind, "failed");
  assert.match(
    word.kind === "failed" ? word.sentence : "",
    /^PostgreSQL could not start \(.*global.*\); see .*postgres\.log\.$/,
  );
  await untilNoneRuns(dataDir);
});

test(
  "root's data in a folder only root can enter is kept in the shared folder, with one notice",
  onlyForRoot,
  async () => {
    const closed = join(folder, "closed");
    mkdirSync(closed, { mode: 0o700 });
    const dataDir = join(closed, "data");
    const first = await startClient({ dataDir, shared });
    await query(urlOf(first), "create table kept as select 1 as value");
    const home = execFileSync("readlink", [join(dataDir, "postgres")], { encoding: "utf8" }).trim();
    assert.equal(home.startsWith(`${shared}/`), true);
    assert.deepEqual(
      first.notices.slice(1).map((text) => text.replace(/user \w+/, "user …")),
      [`The database is kept in ${home}, because the user …, who runs PostgreSQL for root, can't access ${dataDir}.`],
    );
    assert.equal(statSync(home).mode & 0o777, 0o700);
    await first.release();

    const second = await startClient({ dataDir, shared });
    assert.deepEqual(second.notices, []);
    assert.deepEqual(await query(urlOf(second), "select value from kept"), [{ value: 1 }]);
    await second.release();
    await untilNoneRuns(dataDir);

    rmSync(dataDir, { recursive: true });
    const anew = await startClient({ dataDir, shared });
    await assert.rejects(query(urlOf(anew), "select value from kept"), { code: "42P01" });
    await anew.release();
  },
);

test("root does not use an ordinary user's data folder", onlyForRoot, async (t) => {
  if (!canBecomeOrdinary) return t.skip("the checkout is closed to ordinary users");
  const dataDir = join(folder, "of-root", "data");
  const ofRoot = await startClient({ dataDir, shared });
  assertFailed(
    await startClient({ dataDir, shared, ...ordinary }),
    `No permission to write to ${dataDir}. Start Bookflow as the user who owns it, or set DATA_DIR to another folder.`,
  );
  await ofRoot.release();
});

test("root is told when a parent folder of the database was closed later", onlyForRoot, async () => {
  const dataDir = join(folder, "of-root", "data");
  await (await startClient({ dataDir, shared })).release();
  chmodSync(join(folder, "of-root"), 0o700);
  const { word } = await startClient({ dataDir, shared });
  assert.match(
    word.kind === "failed" ? word.sentence : "",
    /^PostgreSQL runs as the user \w+, who can't access .*of-root\/data\/postgres\. Run chmod o\+x on its parent folders\./,
  );
});

function assertFailed(client: ClientProcess, sentence: string): void {
  assert.deepEqual(client.word, { kind: "failed", name: "StartError", sentence });
}

function makeOrdinaryFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  if (isRoot) chownSync(path, 65_534, 65_534);
  return path;
}

function canRunNodeAs(uid: number): boolean {
  try {
    accessSync(process.execPath);
    execFileSync(process.execPath, ["--version"], { uid, gid: uid, cwd: "/" });
    return true;
  } catch {
    return false;
  }
}
