import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { AppConnection } from "#contract/app/connections.ts";
import { TEST_SECRET_KEY } from "../../../test/support/app/app.ts";
import { createCommandLine } from "../../../test/support/app/cli.ts";
import { noAudit } from "../../../test/support/app/no-audit.ts";
import { makeBooking, makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { startCalcomServer } from "../../../test/support/scheduler/calcom/calcom-server.ts";
import { createOpenDeps } from "../../../test/support/scheduler/open-deps.ts";
import type { ConnectionCheck } from "../scheduler/check/check-connection.ts";
import { addConnection } from "../scheduler/connections/connections.ts";

const { deps, url } = await createOpenDeps();
const cli = createCommandLine({ DATABASE_URL: url, SECRET_KEY: TEST_SECRET_KEY, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" });
const server = await startCalcomServer();
after(() => server.stop());
const owner = await makeOrganization(deps.db);
const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
assert.ok(added.kind === "added");
const { id } = added;

test("connection list shows ids, systems and health, and no secret", async () => {
  const { code, stdout } = await cli.runInside(["connection", "list", "--org", owner]);
  assert.deepEqual([code, stdout], [0, `${id}  calcom  healthy  Practice\n`]);
  const json = (await cli.runInside(["connection", "list", "--org", owner, "--json"])).stdout;
  const [connection] = JSON.parse(json) as AppConnection[];
  assert.deepEqual([connection?.id, connection?.settings], [id, server.parts.settings]);
  assert.equal(json.includes(server.parts.credentials.apiKey), false);
  const other = await makeOrganization(deps.db);
  assert.equal((await cli.runInside(["connection", "list", "--org", other])).stdout, "No connections.\n");
  const unknown = await cli.runInside(["connection", "list", "--org", "org_1111111111111111"]);
  assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
});

test("connection check prints each request without the key, the steps and a verdict", async () => {
  const { code, stdout } = await cli.runInside(["connection", "check", id, "--book"]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^GET http:\/\/127\.0\.0\.1:\d+\/v2\/me\n {2}\d+ ms, HTTP 200 \{/m);
  assert.match(stdout, /^ok {4}available times: Available times in the next 14 days: /m);
  assert.match(stdout, /^ok {4}booking: Booked Check-up for /m);
  assert.match(stdout, /\nThis connection works: a test appointment was booked, found and cancelled\.\n$/);
  assert.equal(stdout.includes(server.parts.credentials.apiKey), false);
  assert.deepEqual(
    server.bookings.map(({ status }) => status),
    ["cancelled"],
  );
});

test("connection check saves what it saw, and exits with 1 when something fails", async () => {
  const folder = await mkdtemp(join(tmpdir(), "check-"));
  after(() => rm(folder, { recursive: true }));
  const file = join(folder, "check.json");
  server.injectFault("GET /slots", { reply: { status: 500, json: {} } });
  const { code, stdout } = await cli.runInside(["connection", "check", id, "--save", file, "--json"]);
  assert.equal(code, 1);
  const saved = JSON.parse(await readFile(file, "utf8")) as ConnectionCheck;
  assert.deepEqual(saved, JSON.parse(stdout));
  assert.deepEqual(saved.steps.at(-1), {
    name: "free_times",
    isOk: false,
    message: "Cal.com can't be reached right now. Try again in a minute. (HTTP 500)",
  });
});

test("a widget goes live with a connection that works, back to test mode, and loses its test data", async () => {
  const widgetId = await makeWidget(deps.db, owner);
  await makeBooking(deps.db, owner, { widgetId, is_test: true });
  const run = (...typed: string[]) => cli.runInside(["widget", ...typed]);
  for (const [other, stderr] of [
    ["conn_1111111111111111", "--connection: Connection not found.\n"],
    ["nonsense", "--connection: This must be a connection ID.\n"],
  ] as const)
    assert.deepEqual(await run("go-live", widgetId, "--connection", other), { code: 2, stdout: "", stderr });
  server.injectFault("GET /me", { reply: { status: 401, json: {} } });
  const refused = await run("go-live", widgetId, "--connection", id);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /^--connection: Cal\.com doesn't accept this API key\./);
  assert.deepEqual(JSON.parse((await run("clear-test-data", widgetId, "--dry-run", "--json")).stdout), {
    bookings: 1,
    visits: 0,
    deliveries: 0,
  });
  const live = await run("go-live", widgetId, "--connection", id, "--clear-test-data", "--json");
  assert.deepEqual(JSON.parse(live.stdout), {
    id: widgetId,
    isLive: true,
    cleared: { bookings: 1, visits: 0, deliveries: 0 },
  });
  const left = deps.db.selectFrom("bookings").select("reference").where("widget_id", "=", widgetId);
  assert.deepEqual(await left.execute(), []);
  assert.equal((await run("test-mode", widgetId)).stdout, `Widget ${widgetId} is in test mode.\n`);
  assert.equal((await run("go-live", "w_111111111111", "--connection", id)).code, 2);
});

test("connection check prints no characters that control a terminal", async () => {
  const data = { username: "lindenhof", name: "Red\u001b[31m\u009b2J\nok    cancel", timeZone: "Europe/Berlin" };
  server.injectFault("GET /me", { reply: { status: 200, json: { status: "success", data } } });
  const { stdout } = await cli.runInside(["connection", "check", id]);
  assert.match(stdout, /^ok {4}account: Signed in as “Red \[31m 2J ok {4}cancel”/m);
  assert.equal(/(?!\n)\p{Cc}/u.test(stdout), false);
});

test("connection check refuses an unknown id", async () => {
  for (const other of ["conn_1111111111111111", "nonsense"])
    assert.deepEqual(await cli.runInside(["connection", "check", other]), {
      code: 2,
      stdout: "",
      stderr: "No connection has this ID.\n",
    });
});

test("connection check refuses a file it cannot write and an invalid email address before it books", async () => {
  const before = server.bookings.length;
  const refusals = [
    [["--save", "/nowhere/check.json"], `The file "/nowhere/check.json" can't be written (ENOENT).\n`],
    [["--email", "nonsense"], "--email: This is not an email address.\n"],
  ] as const;
  for (const [options, stderr] of refusals)
    assert.deepEqual(await cli.runInside(["connection", "check", id, "--book", ...options]), {
      code: 2,
      stdout: "",
      stderr,
    });
  assert.equal(server.bookings.length, before);
});
