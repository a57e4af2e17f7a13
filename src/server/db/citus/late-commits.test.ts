import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { queryOnce } from "../../../../test/support/database/citus-cluster.ts";
import { isCluster, listDatabaseUrls } from "../../../../test/support/database/database.ts";
import { createLog } from "../../lib/log/log.ts";
import { examine } from "../../operations/doctor.ts";
import { openDb, openPool } from "../connections/pool.ts";
import { warnOfLateCommits } from "./late-commits.ts";

const isSkipped = isCluster() ? false : "no cluster: npm run cluster -- --bin DIR -- npm test -- FILE";
const { deps, url } = await createTestApp();
const database = new URL(url).pathname.slice(1);

/** What doctor and a start say, on new connections. */
async function askAgain(): Promise<{ finding: string | undefined; lines: string[] }> {
  const lines: string[] = [];
  const log = createLog("warn", { write: (line) => lines.push(line) });
  const pool = openPool({ url, size: 2, log });
  try {
    await pool.query("select 1");
    const db = openDb(pool);
    const findings = await examine({ ...deps, db, hasBrowserFiles: true });
    await warnOfLateCommits({ db, log });
    const found = findings.find(({ check }) => check === "commits");
    return { finding: found && `${found.state} ${found.message}`, lines };
  } finally {
    await pool.end();
  }
}

test("a server that confirms commits too early is found by doctor and at the start", { skip: isSkipped }, async () => {
  assert.deepEqual(await askAgain(), { finding: "ok No reachable server has synchronous_commit = off.", lines: [] });
  const server = listDatabaseUrls(database)[1] ?? "";
  await queryOnce(
    server,
    `set citus.enable_ddl_propagation = off; alter database ${database} set synchronous_commit = off`,
  );
  const { finding, lines } = await askAgain();
  const said = `Moving shards can lose what was just recorded, because synchronous_commit is off on ${new URL(server).host}. Turn it on.`;
  assert.equal(finding, `fault ${said}`);
  assert.equal(lines.length, 1);
  const { at: _at, ...line } = JSON.parse(lines[0] ?? "") as Record<string, string>;
  assert.deepEqual(line, { level: "warn", name: "database.synchronous_commit_off", servers: new URL(server).host });
});

test("plain PostgreSQL is not asked", { skip: isCluster() && "a cluster" }, async () => {
  await queryOnce(url, `alter database ${database} set synchronous_commit = off`);
  assert.deepEqual(await askAgain(), { finding: undefined, lines: [] });
});
