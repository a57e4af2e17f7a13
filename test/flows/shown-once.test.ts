import assert from "node:assert/strict";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CreatedInvitation } from "#contract/app/account.ts";
import type { AddedEndpoint, RotatedSecret } from "#contract/app/endpoints.ts";
import type { CreatedKey } from "#contract/app/keys.ts";
import { APP_PREFIX, ROUTE_TABLE, type TableRoute } from "#contract/app/routes.ts";
import { DAY_MS } from "#contract/durations.ts";
import { API_PREFIX, READ_ROUTES } from "#contract/read-routes.ts";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { exportDays } from "../../src/server/export/export.ts";
import { askApp } from "../support/app/app-api.ts";
import { signIn } from "../support/app/sign-in.ts";
import { fillIn, prepareThings, type Things } from "../support/app/things.ts";
import { openWire } from "../support/app/wire.ts";
import { makeKey } from "../support/builders.ts";
import { book, createWebhookService, deliverAll, moveClock } from "../support/webhooks/webhook-service.ts";

// Secrets are made in the dashboard and with a key. Then everything is read that the organization's owner and a key with every scope
// can read, and no secret may be in it.

const service = await createWebhookService({ rateLimitApiPerMinute: 1_000_000 });
const { app, deps, loop, lines } = service;
const { makeThings, receiver, calcom } = await prepareThings(service);
const { port } = await openWire(app);
const owner = await signIn(service, { role: "owner", plan: "business" });
const { key } = await makeKey(deps.db, owner.organizationId, { scopes: KEY_SCOPES });
const business = { owner: owner.organizationId, plan: "business" } as const;

/** By what they are. */
const secrets: Record<string, string> = {
  "the key that asks": key,
  "a header's value": "header-value-of-the-receiver",
  "a connection's credentials": calcom.parts.credentials.apiKey,
};

async function askAsKey(method: "GET" | "POST" | "PATCH", path: string, body?: object) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await app.inject({ method, url: API_PREFIX + path, headers, ...(body && { payload: body }) });
  return { status: response.statusCode, text: response.body };
}

before(async () => {
  const things = await makeThings(owner.organizationId, "business");
  const headers = { "X-Api-Key": secrets["a header's value"] };
  const endpoint = { kind: "webhook", url: receiver.url, headers };
  const ask = {
    "the dashboard": async <T>(path: string, body: object) =>
      (await askApp(app, owner, `POST ${path}`, body)).body as T,
    "a key": async <T>(path: string, body: object) => JSON.parse((await askAsKey("POST", path, body)).text) as T,
  };
  for (const [by, post] of Object.entries(ask)) {
    secrets[`a key made by ${by}`] = (
      await post<CreatedKey>("/keys", { name: "Data team", scopes: ["analytics"] })
    ).key;
    const added = await post<AddedEndpoint>("/endpoints", endpoint);
    secrets[`a signing secret made by ${by}`] = String(added.secret);
    const rotated = await post<RotatedSecret>(`/endpoints/${added.endpoint.id}/rotate-secret`, {});
    secrets[`a signing secret rotated by ${by}`] = rotated.secret;
  }
  const invitation = { email: "new@example.com", role: "viewer" };
  const { link } = (await askApp(app, owner, "POST /invitations", invitation)).body as CreatedInvitation;
  secrets["an invitation's token"] = String(link).split(/[#=/]/).at(-1) ?? "";
  await book(deps, { ...business, widgetId: things.widget as never });
  await deliverAll(loop);
  for (const [what, secret] of Object.entries(secrets)) assert.ok(secret.length > 15, what);
});

/** Not even half of a secret. Lists show a few characters from its ends. */
function requireNone(text: string, where: string): void {
  for (const [what, secret] of Object.entries(secrets)) {
    const middle = secret.slice(Math.ceil(secret.length / 4), Math.floor((secret.length * 3) / 4));
    assert.ok(!text.includes(middle), `${what} is in ${where}`);
  }
}

/** The IDs in a list. */
async function readIds(path: string): Promise<string[]> {
  const { data } = JSON.parse((await askAsKey("GET", path)).text) as { data: { id: string; reference: string }[] };
  return data.map(({ id, reference }) => (path === "/bookings" ? reference : id));
}

/** Every thing that a path can name. */
async function listPaths(path: string): Promise<string[]> {
  const [, name] = /:(\w+)/.exec(path) ?? [];
  if (name === undefined) return [path];
  const list = { userId: null, id: null, reference: "/bookings" }[name];
  const ids = list === null ? [] : await readIds(list ?? path.slice(0, path.indexOf("/:")));
  assert.ok(list === null || ids.length > 0, path);
  return ids.map((id) => fillIn(path, { [name]: id } as Things));
}

describe("what is shown once can't be read again", () => {
  const routes = Object.entries<TableRoute>(ROUTE_TABLE);
  for (const [name, { method, path, scopes }] of routes.filter(([, route]) => route.method === "GET"))
    test(`${name} in the dashboard${scopes ? ", and with a key" : ""}`, async () => {
      const query = name === "getBreakdown" || name === "splitFunnel" ? "?dimension=channel" : "";
      for (const each of await listPaths(path)) {
        const response = await app.inject({ method, url: APP_PREFIX + each + query, headers: owner.headers } as const);
        assert.equal(response.statusCode, 200, `${each}: ${response.body}`);
        requireNone(response.body, each);
        if (!scopes) continue;
        const { status, text } = await askAsKey("GET", each);
        assert.equal(status, 200, each);
        requireNone(text, `${each} with a key`);
      }
    });

  test("any route of the read API", async () => {
    for (const [name, { path }] of Object.entries(READ_ROUTES))
      for (const each of await listPaths(path)) {
        const { status, text } = await askAsKey("GET", each + (name === "getBreakdown" ? "?dimension=channel" : ""));
        assert.equal(status, 200, each);
        requireNone(text, each);
      }
  });

  test("a tool of an assistant", async () => {
    const client = new Client({ name: "test", version: "1" });
    const headers = { authorization: `Bearer ${key}` };
    const address = new URL(`http://127.0.0.1:${port}/mcp`);
    // The SDK's transport and its interface differ in exactOptionalPropertyTypes.
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }) as never);
    const { tools } = await client.listTools();
    assert.ok(tools.length > 4);
    for (const { name } of tools) {
      const parameters = name === "get_breakdown" ? { dimension: "channel" } : {};
      const response = await client.callTool({ name, arguments: parameters });
      assert.ok(!response.isError, name);
      requireNone(JSON.stringify(response), name);
    }
  });

  test("the API reference, the measurements and the log", async () => {
    for (const url of [`${API_PREFIX}/openapi.json`, "/docs/api", "/metrics"])
      requireNone((await app.inject({ url, headers: owner.headers })).body, url);
    requireNone(lines.join("\n"), "the log");
  });

  test("the files of the nightly export", async () => {
    moveClock(service, (2 * DAY_MS) / 1_000);
    const folder = mkdtempSync(join(tmpdir(), "bookflow-shown-once-"));
    after(() => rmSync(folder, { recursive: true, force: true }));
    await exportDays(deps, { to: folder, owner: owner.organizationId });
    const files = globSync(join(folder, "**/*.ndjson"));
    assert.ok(files.length > 0);
    for (const file of files) requireNone(readFileSync(file, "utf8"), file);
  });
});
