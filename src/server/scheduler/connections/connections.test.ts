import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type ConnectionId, parseConnectionId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, updateWidget } from "../../../../test/support/builders.ts";
import {
  CALCOM_REQUEST_ID,
  type CalcomServer,
  startCalcomServer,
} from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { startGraphServer } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { requireFound } from "../../../../test/support/scheduler/requests.ts";
import { openConnection, openSchedulingSystem } from "../open-system.ts";
import { addConnection, changeConnection, removeConnection } from "./connections.ts";
import { findConnection, listConnections } from "./queries.ts";

const { deps, clock, pool, lines } = await createOpenDeps();
const START = clock.now();

async function serveCalcom(): Promise<CalcomServer> {
  const server = await startCalcomServer();
  after(() => server.stop());
  return server;
}

async function connect(server: CalcomServer) {
  const owner = await makeOrganization(deps.db);
  const added = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added", JSON.stringify(added));
  return { owner, id: added.id, added };
}

test("a working connection is saved, with its credentials sealed", async () => {
  const server = await serveCalcom();
  const { owner, id, added } = await connect(server);
  assert.equal(parseConnectionId(id), id);
  assert.equal(added.verified.businessName, "Lindenhof Dental");
  const [row] = await listConnections(deps.db, owner);
  assert.deepEqual(row, {
    id,
    organization_id: owner,
    kind: "calcom",
    name: "Practice",
    settings: server.parts.settings,
    last_ok_at: START,
    last_error: null,
    last_error_at: null,
    last_error_status: null,
    last_error_request_id: null,
    follows_changes: true,
    subscription_id: null,
    created_at: START,
    updated_at: START,
  });
  const { apiKey } = server.parts.credentials;
  const { rows } = await pool.query("select credentials, t::text as whole from scheduling_connections t");
  for (const { credentials, whole } of rows) assert.equal(`${credentials} ${whole}`.includes(apiKey), false);
});

test("Cal.com's API address may end in /v2, as in its documents", async () => {
  const server = await serveCalcom();
  const owner = await makeOrganization(deps.db);
  const settings = { ...server.parts.settings, apiUrl: `${server.parts.settings.apiUrl}/v2/` };
  const added = await addConnection(
    deps,
    owner,
    { kind: "calcom", name: "Practice", ...server.parts, settings },
    noAudit,
  );
  assert.equal(added.kind, "added");
  assert.deepEqual((await listConnections(deps.db, owner))[0]?.settings, server.parts.settings);
});

test("both kinds are connected; missing addresses get their defaults", async () => {
  const server = await startGraphServer();
  after(() => server.stop());
  const owner = await makeOrganization(deps.db);
  const wanted = { kind: "microsoft-bookings", name: "Bookings", ...server.parts } as const;
  const added = await addConnection(deps, owner, wanted, noAudit);
  assert.equal(added.kind, "added");
  const { graphUrl: _, loginUrl: __, ...settings } = server.parts.settings;
  // The default address can't be reached from here: its name doesn't exist.
  const usual = await addConnection(deps, owner, { ...wanted, settings }, noAudit);
  assert.ok(usual.kind === "test_failed" && usual.failure.upstream?.failure === "dns_error", JSON.stringify(usual));
});

for (const [name, change, fields] of [
  ["a missing key", { credentials: {} }, ["apiKey"]],
  ["a key that could not be sent", { credentials: { apiKey: "cal_\nInjected: yes" } }, ["apiKey"]],
  ["an invalid address", { settings: { apiUrl: "cal.example.com" } }, ["apiUrl"]],
  ["an address with another scheme", { settings: { apiUrl: "file:///etc/passwd" } }, ["apiUrl"]],
  ["an address with a password", { settings: { apiUrl: "https://a:b@cal.example.com" } }, ["apiUrl"]],
] as const) {
  test(`${name} is refused without any request, and named without its value`, async () => {
    const server = await serveCalcom();
    const owner = await makeOrganization(deps.db);
    const wanted = { kind: "calcom", name: "Practice", ...server.parts, ...change } as const;
    assert.deepEqual(await addConnection(deps, owner, wanted, noAudit), { kind: "fields_refused", fields });
    assert.deepEqual(server.requests, []);
  });
}

test("a connection that does not work is not saved", async () => {
  const server = await serveCalcom();
  const owner = await makeOrganization(deps.db);
  const wanted = { kind: "calcom", name: "Practice", ...server.parts, credentials: { apiKey: "cal_wrong" } } as const;
  const upstream = { status: 401, requestId: CALCOM_REQUEST_ID, failure: null };
  const failure = { kind: "refused", reason: "credentials", upstream };
  assert.deepEqual(await addConnection(deps, owner, wanted, noAudit), { kind: "test_failed", failure });
  assert.deepEqual(await listConnections(deps.db, owner), []);
});

test("an organization has a limited number of connections", async () => {
  const server = await serveCalcom();
  const { owner, id } = await connect(server);
  await pool.query(
    `insert into scheduling_connections (id, organization_id, kind, name, settings, credentials, created_at, updated_at)
     select id || n, organization_id, kind, name, settings, credentials, created_at, updated_at
     from scheduling_connections, generate_series(2, ${deps.scheduler.maxConnections}) n where id = $1`,
    [id],
  );
  const more = await addConnection(deps, owner, { kind: "calcom", name: "Practice", ...server.parts }, noAudit);
  assert.deepEqual(more, { kind: "too_many", most: 50 });
});

test("settings and credentials are replaced together, and every process reopens the connection", async () => {
  const [first, second] = [await serveCalcom(), await serveCalcom()];
  const { owner, id } = await connect(first);
  const widget = { id: await makeWidget(deps.db, owner), organizationId: owner, connectionId: id };
  requireFound(await (await openSchedulingSystem(deps, widget)).listServices());
  const replaced = await changeConnection(deps, owner, { id, parts: second.parts });
  assert.equal(replaced.kind, "changed");
  const before = { first: first.requests.length, second: second.requests.length };
  requireFound(await (await openSchedulingSystem(deps, widget)).listServices());
  assert.equal(first.requests.length, before.first);
  assert.ok(second.requests.length > before.second);
  const { settings } = second.parts;
  assert.deepEqual(await changeConnection(deps, owner, { id, parts: { settings, credentials: {} } }), {
    kind: "fields_refused",
    fields: ["apiKey"],
  });
});

test("a connection is removed only when no widget uses it", async () => {
  const { owner, id } = await connect(await serveCalcom());
  const widgetId = await makeWidget(deps.db, owner);
  await updateWidget(deps.db, widgetId, { connection_id: id });
  assert.deepEqual(await removeConnection(deps, owner, id), { kind: "in_use" });
  await updateWidget(deps.db, widgetId, { connection_id: null });
  assert.deepEqual(await removeConnection(deps, owner, id), { kind: "removed" });
  assert.deepEqual(await removeConnection(deps, owner, id), { kind: "not_found" });
});

test("another organization can neither see, use, change nor remove a connection", async () => {
  const server = await serveCalcom();
  const { owner, id } = await connect(server);
  const stranger = await makeOrganization(deps.db);
  assert.deepEqual(await listConnections(deps.db, stranger), []);
  assert.equal(await openConnection(deps, stranger, id), null);
  const change = { id, name: "Mine", parts: server.parts };
  assert.deepEqual(await changeConnection(deps, stranger, change), { kind: "not_found" });
  assert.deepEqual(await removeConnection(deps, stranger, id), { kind: "not_found" });
  assert.equal((await findConnection(deps.db, owner, id))?.name, "Practice");
});

test("credentials sealed with another key, or copied from another row, fail every operation", async () => {
  const server = await serveCalcom();
  const [mine, theirs] = [await connect(server), await connect(server)];
  const { rows } = await pool.query("select credentials from scheduling_connections where id = $1", [theirs.id]);
  await pool.query("update scheduling_connections set credentials = $2, updated_at = '2030-01-01' where id = $1", [
    mine.id,
    rows[0]?.credentials,
  ]);
  const upstream = { status: null, requestId: null, failure: "unsealed" };
  const expected = { kind: "refused", reason: "credentials", upstream };
  const system = await openConnection(deps, mine.owner, mine.id);
  assert.deepEqual(await system?.verify(), expected);
});

test("a connection that does not exist cannot be opened", async () => {
  const owner = await makeOrganization(deps.db);
  const id = "conn_1111111111111111" as ConnectionId;
  assert.equal(await openConnection(deps, owner, id), null);
});

test("a widget without a connection uses its sandbox", async () => {
  const owner = await makeOrganization(deps.db);
  const widget = { id: await makeWidget(deps.db, owner), organizationId: owner, connectionId: null };
  const system = await openSchedulingSystem(deps, widget);
  assert.equal(system.kind, "sandbox");
  assert.equal(requireFound(await system.listServices()).length, 4);
});

test("none of these tests wrote a credential to the log", () => {
  assert.equal(lines.join("").includes("cal_live"), false);
});
