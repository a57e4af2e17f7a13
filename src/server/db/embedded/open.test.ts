import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  findSupervisors,
  killIfAlive,
  killTogether,
  makeTestFolder,
  query,
  queryWhenBack,
  readServerPid,
  startClient,
  untilNoneRuns,
  urlOf,
} from "../../../../test/support/database/embedded/processes.ts";
import { until } from "../../../../test/support/until.ts";
import { openEmbeddedDatabase } from "./open.ts";

const { folder, shared } = makeTestFolder();
const ignoreNotice = () => {};

describe("one data folder, start to finish", () => {
  const dataDir = join(folder, "data");

  test("the first start creates a UTF-8 database with checksums that stores any letter and keeps what is written", async () => {
    const notices: string[] = [];
    const database = await openEmbeddedDatabase({
      dataDir,
      sharedFolder: shared,
      notice: (text) => notices.push(text),
    });
    await query(database.url, "create table kept as select 1 as value");
    const [facts] = await query(
      database.url,
      `select current_user as user, current_database() as database, lower('ÀÉ') as lower,
         current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums,
         current_setting('fsync') as fsync, current_setting('timezone') as zone`,
    );
    await database.release();
    assert.deepEqual(facts, {
      user: "bookflow",
      database: "bookflow",
      lower: "àé",
      encoding: "UTF8",
      checksums: "on",
      fsync: "on",
      zone: "UTC",
    });
    assert.deepEqual(notices, [`Creating the database in ${join(dataDir, "postgres")}.`]);
  });

  test("after the last client has left, nothing runs and no secret is readable by others", async () => {
    await untilNoneRuns(dataDir);
    assert.equal(existsSync(join(dataDir, "supervisor.json")), false);
    for (const name of readdirSync(dataDir)) assert.equal(statSync(join(dataDir, name)).mode & 0o077, 0, name);
    for (const name of ["bookflow-password", "superuser-password"])
      assert.equal(statSync(join(dataDir, "postgres", name)).mode & 0o077, 0);
  });

  test("the second start finds the data, listens only on a socket and requires the password", async () => {
    const database = await openEmbeddedDatabase({ dataDir, sharedFolder: shared, notice: ignoreNotice });
    assert.deepEqual(await query(database.url, "select value from kept"), [{ value: 1 }]);
    assert.deepEqual(await query(database.url, "select current_setting('listen_addresses') as addresses"), [
      { addresses: "" },
    ]);
    await assert.rejects(query(database.url.replace(/:[0-9a-f]+@/, ":wrong@"), "select 1"), { code: "28P01" });
    assert.equal(statSync(join(dataDir, "supervisor.json")).mode & 0o077, 0);
    await database.release();
  });

  test("the service's role owns its database, is not a superuser, and logs no errors", async () => {
    const database = await openEmbeddedDatabase({ dataDir, sharedFolder: shared, notice: ignoreNotice });
    const [role] = await query(
      database.url,
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, current_setting('log_min_messages') as log,
         (select datdba::regrole::text from pg_database where datname = current_database()) as owner,
         pg_has_role('pg_read_server_files', 'member') as reads_files,
         pg_has_role('pg_execute_server_program', 'member') as runs_programs
       from pg_roles where rolname = current_user`,
    );
    assert.deepEqual(role, {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
      log: "log",
      owner: "bookflow",
      reads_files: false,
      runs_programs: false,
    });
    await assert.rejects(query(database.url, "copy (select 1) to program 'true'"), { code: "42501" });
    await assert.rejects(query(database.url.replace("//bookflow:", "//postgres:"), "select 1"), { code: "28P01" });
    const password = readFileSync(join(dataDir, "postgres", "superuser-password"), "utf8").trim();
    const superuser = database.url.replace(/\/\/bookflow:[^@]*@/, `//postgres:${password}@`);
    assert.deepEqual(await query(superuser, "select rolsuper from pg_roles where rolname = current_user"), [
      { rolsuper: true },
    ]);
    await database.release();
  });

  test("two processes share one server, which stops when the second has left", async () => {
    const first = await startClient({ dataDir, shared });
    const second = await startClient({ dataDir, shared });
    assert.equal(urlOf(first), urlOf(second));
    const server = readServerPid(dataDir);
    await first.release();
    assert.equal(readServerPid(dataDir), server);
    assert.deepEqual(await query(urlOf(second), "select value from kept"), [{ value: 1 }]);
    await second.release();
    await untilNoneRuns(dataDir);
  });

  test("clients that arrive while the last one leaves are served", async () => {
    for (let round = 0; round < 3; round++) {
      const leaving = await startClient({ dataDir, shared });
      const [coming] = await Promise.all([
        openEmbeddedDatabase({ dataDir, sharedFolder: shared, notice: ignoreNotice }),
        leaving.release(),
      ]);
      const release = coming.release();
      const next = await openEmbeddedDatabase({ dataDir, sharedFolder: shared, notice: ignoreNotice });
      assert.deepEqual(await query(next.url, "select value from kept"), [{ value: 1 }]);
      await Promise.all([release, next.release()]);
    }
    await untilNoneRuns(dataDir);
  });

  test("kill -9 of the only client leaves nothing running", async () => {
    const client = await startClient({ dataDir, shared });
    await client.kill();
    await untilNoneRuns(dataDir);
  });

  test("a running client gets its database back after kill -9 of the server", async () => {
    const client = await startClient({ dataDir, shared });
    process.kill(readServerPid(dataDir), "SIGKILL");
    assert.deepEqual(await queryWhenBack(urlOf(client), "select value from kept"), [{ value: 1 }]);
    await client.release();
  });

  test("a running client gets its database back after kill -9 of the supervisor, and still stops it", async () => {
    const client = await startClient({ dataDir, shared });
    const [supervisor = 0] = findSupervisors(dataDir);
    const server = readServerPid(dataDir);
    process.kill(supervisor, "SIGKILL");
    await until(() => readServerPidOrNull(dataDir) !== server, "another server runs");
    assert.deepEqual(await queryWhenBack(urlOf(client), "select value from kept"), [{ value: 1 }]);
    await client.release();
    await untilNoneRuns(dataDir);
  });

  test("kill -9 of client and supervisor together leaves no server behind", async () => {
    const client = await startClient({ dataDir, shared });
    killTogether([client.pid, ...findSupervisors(dataDir)]);
    await client.kill();
    await untilNoneRuns(dataDir);
  });

  test("a start after kill -9 of everything finds every committed row", async () => {
    const client = await startClient({ dataDir, shared });
    await query(urlOf(client), "create table committed as select 2 as value");
    killTogether([client.pid, ...findSupervisors(dataDir), readServerPid(dataDir)]);
    assert.equal(existsSync(join(dataDir, "supervisor.json")), true);
    const next = await startClient({ dataDir, shared });
    assert.deepEqual(await query(urlOf(next), "select value from committed"), [{ value: 2 }]);
    await next.release();
    await client.kill();
  });

  test("a pid file that names an unrelated process does not block the start, and that process keeps running", async (t) => {
    const { uid, gid } = statSync(join(dataDir, "postgres"));
    const stranger = spawn("/bin/sh", ["-c", "read line"], { stdio: ["pipe", "ignore", "ignore"], uid, gid });
    t.after(() => stranger.kill());
    const pidFile = join(dataDir, "postgres", "postmaster.pid");
    writeFileSync(pidFile, `${stranger.pid}\n${dataDir}/postgres\n1700000000\n5432\n.\n\n  1234  5678\nready\n`);
    const client = await startClient({ dataDir, shared });
    assert.deepEqual(await query(urlOf(client), "select value from kept"), [{ value: 1 }]);
    await client.release();
    assert.equal(stranger.exitCode ?? stranger.signalCode, null);
  });

  test("customer values do not reach the server's log", async () => {
    const database = await openEmbeddedDatabase({ dataDir, sharedFolder: shared, notice: ignoreNotice });
    await query(database.url, "create table customer (email text unique, age integer)");
    await query(database.url, "insert into customer values ('ada@example.com', 1)");
    await assert.rejects(query(database.url, "insert into customer values ('ada@example.com', 2)"));
    await assert.rejects(query(database.url, "insert into customer values ('eve', 'ada@example.com')"));
    await assert.rejects(query(database.url, "select 'ada@example.com' from nowhere"));
    await database.release();
    assert.doesNotMatch(readFileSync(join(dataDir, "postgres.log"), "utf8"), /ada@example/);
  });
});

test("four processes starting at once on a new folder create one database and share it", async () => {
  const dataDir = join(folder, "at-once");
  const clients = await Promise.all([1, 2, 3, 4].map(() => startClient({ dataDir, shared })));
  assert.equal(new Set(clients.map(urlOf)).size, 1);
  await Promise.all(clients.map((client) => client.release()));
  await untilNoneRuns(dataDir);
});

test("a first start cut short by kill -9 does not block the next one", async () => {
  const dataDir = join(folder, "cut-short");
  // The client starts another supervisor when the first one is killed; the second notice ends this.
  const notices: string[] = [];
  const { url, release } = await openEmbeddedDatabase({
    dataDir,
    sharedFolder: shared,
    notice: (sentence) => {
      if (notices.push(sentence) === 1) for (const pid of findSupervisors(dataDir)) killIfAlive(pid);
    },
  });
  assert.equal(notices.length, 2);
  assert.deepEqual(await query(url, "select 1 as value"), [{ value: 1 }]);
  await release();
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes(".new")),
    [],
  );
});

function readServerPidOrNull(dataDir: string): number | null {
  try {
    return readServerPid(dataDir);
  } catch {
    return null;
  }
}
