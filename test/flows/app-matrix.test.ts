import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type MemberRole, ROLES_OF_MEMBERS, roleIncludes } from "#contract/app/role.ts";
import {
  ACCOUNT_ROUTES,
  type AccountRoute,
  APP_PREFIX,
  APP_ROUTES,
  type AppRoute,
  type AppRouteName,
} from "#contract/app/routes.ts";
import type { EndpointId } from "#contract/ids.ts";
import { planIncludes } from "#contract/plans.ts";
import { API_PREFIX, READ_ROUTES } from "#contract/read-routes.ts";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { deleteEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { askApp } from "../support/app/app-api.ts";
import { listRoutes } from "../support/app/routes.ts";
import { type SignedIn, signIn } from "../support/app/sign-in.ts";
import { fillIn, prepareThings, type Things } from "../support/app/things.ts";
import { makeKey, makeOrganization } from "../support/builders.ts";
import { createWebhookService } from "../support/webhooks/webhook-service.ts";

// Every route of the dashboard API, called by everyone: nobody, each role, another organization's owner, and on each plan.

const service = await createWebhookService();
const { app, deps } = service;
const { db } = deps;
const { makeThings, receiver, calcom } = await prepareThings(service);

const names = Object.keys(APP_ROUTES) as AppRouteName[];
const routeOf = (name: AppRouteName): AppRoute => APP_ROUTES[name];

/** The status, or status and error code, of each route for those allowed to use it; 200 if not listed. */
const STATUSES: Partial<Record<AppRouteName, number | string>> = {
  dismissChecklist: 204,
  createWidget: 201,
  deleteBooking: 204,
  addEndpoint: 201,
  deleteEndpoint: 204,
  testEndpoint: 202,
  redeliver: 202,
  // It is delivered, and the redelivery has ended.
  retryDelivery: "409 conflict",
  startRedelivery: 202,
  cancelRedelivery: "409 conflict",
  createKey: 201,
  revokeKey: 204,
  addConnection: 201,
  removeConnection: 204,
};

const BODIES: Partial<Record<AppRouteName, object>> = {
  createWidget: { name: "Front page" },
  changeWidget: { name: "Back page" },
  goLive: { connectionId: ":connection" },
  clearTestData: {},
  eraseBookings: { email: "nobody@example.com" },
  checkConnection: { book: false },
  changeReports: { weekly: true },
  addEndpoint: { url: receiver.url, kind: "webhook" },
  changeEndpoint: { description: "CRM" },
  tryFilters: {},
  rotateSecret: {},
  countRedelivery: { from: "2026-01-01" },
  startRedelivery: { from: "2026-01-01" },
  createKey: { name: "Warehouse", scopes: ["manage"] },
  addConnection: { kind: "calcom", name: "Practice", ...calcom.parts },
  changeConnection: { name: "Annex" },
};

/** Our own page, with nobody signed in. */
const nobody = { headers: { cookie: "", origin: new URL(deps.config.baseUrl).origin, "x-organization": "" } };

async function ask(name: AppRouteName, member: Pick<SignedIn, "headers">, things: Things): Promise<string> {
  const { method, path } = routeOf(name);
  const given = JSON.stringify(BODIES[name])?.replace(":connection", things.connection);
  const { status, body } = await askApp(app, member, `${method} ${fillIn(path, things)}`, given && JSON.parse(given));
  const code = (body as { error?: { code: string } } | null)?.error?.code;
  return code === undefined ? String(status) : `${status} ${code}`;
}

const owner = await makeOrganization(db, { plan: "business" });
const things = await makeThings(owner, "business");
const members = new Map<MemberRole, SignedIn>();
for (const role of ROLES_OF_MEMBERS) members.set(role, await signIn(service, { role, organizationId: owner }));
const stranger = await signIn(service, { role: "owner", plan: "business" });
const poor = await signIn(service, { role: "owner", plan: "free" });

describe("permissions", () => {
  for (const name of names) {
    const { method, path, role: needed } = routeOf(name);
    test(`${method} ${path}`, async () => {
      assert.equal(await ask(name, nobody, things), "401 unauthorized", "no one");
      for (const [role, member] of members) {
        const isAllowed = roleIncludes(role, needed);
        // What one changes or deletes isn't there for the next.
        const own = isAllowed && method !== "GET" && path.includes(":") ? await makeThings(owner, "business") : things;
        const expected = isAllowed ? String(STATUSES[name] ?? 200) : "403 forbidden";
        assert.equal(await ask(name, member, own), expected, role);
        // An organization has a limited number of them.
        if (own !== things) await deleteEndpoint(deps, owner, own.endpoint as EndpointId);
      }
    });
  }
});

describe("another organization's owner", () => {
  for (const name of names.filter((each) => routeOf(each).path.includes(":"))) {
    const { method, path } = routeOf(name);
    test(`finds nothing at ${method} ${path}`, async () =>
      assert.equal(await ask(name, stranger, things), "404 not_found"));
  }

  test("finds none of this organization's data in any list or file", async () => {
    for (const name of names.filter((each) => routeOf(each).method === "GET" && !routeOf(each).path.includes(":"))) {
      const { status, body } = await askApp(app, stranger, `GET ${routeOf(name).path}`);
      assert.equal(status, 200, name);
      for (const id of Object.values(things)) assert.ok(!JSON.stringify(body).includes(id), `${name}: ${id}`);
    }
  });

  test("cannot select this organization", async () => {
    const intruder = { headers: { ...stranger.headers, "x-organization": owner } };
    for (const name of names) assert.equal(await ask(name, intruder, things), "404 not_found", name);
  });
});

describe("on the Free plan", () => {
  for (const name of names.filter((each) => routeOf(each).feature)) {
    const { method, path, feature } = routeOf(name);
    test(`${method} ${path} needs a plan with ${feature}`, async () => {
      assert.ok(feature && !planIncludes("free", feature));
      assert.equal(await ask(name, poor, things), "403 plan_required");
    });
  }

  test("an endpoint can be turned off, but neither on nor changed", async () => {
    const id = await makeOrganization(db, { plan: "pro" });
    const own = await makeThings(id, "pro");
    const admin = await signIn(service, { role: "admin", organizationId: id });
    await db.updateTable("organizations").set({ plan: "free" }).where("id", "=", id).execute();
    const change = async (body: object) =>
      (await askApp(app, admin, `PATCH /endpoints/${own.endpoint}`, body)).body as {
        error?: { code: string };
        status?: string;
      };
    assert.equal((await change({ isEnabled: false })).status, "disabled");
    for (const body of [{ isEnabled: true }, { description: "CRM" }, { isEnabled: false, description: "CRM" }, {}])
      assert.equal((await change(body)).error?.code, "plan_required", JSON.stringify(body));
  });
});

test("a page on another site can't write anything, whoever is signed in", async () => {
  const admin = members.get("admin");
  assert.ok(admin);
  const elsewhere = { headers: { ...admin.headers, origin: "https://evil.example" } };
  for (const name of names.filter((each) => routeOf(each).method !== "GET"))
    assert.equal(await ask(name, elsewhere, things), "403 forbidden", name);
});

/** What a key can call: the routes with scopes, under /api/v1. */
const KEY_ROUTES = Object.entries({ ...APP_ROUTES, ...ACCOUNT_ROUTES } as Record<
  string,
  AppRoute | AccountRoute
>).filter(([, { scopes }]) => scopes !== undefined) as [
  AppRouteName | "getOrganization" | "changeOrganization",
  AppRoute,
][];

async function askAsKey(key: string, [name, { method, path }]: (typeof KEY_ROUTES)[number], things: Things) {
  const body = name === "changeOrganization" ? '{"name":"Lindenhof"}' : JSON.stringify(BODIES[name as AppRouteName]);
  const response = await app.inject({
    method,
    url: `${API_PREFIX}${fillIn(path, things)}`,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { payload: body.replace(":connection", things.connection) }),
  });
  const code = response.body === "" ? undefined : response.json().error?.code;
  return code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`;
}

describe("keys", () => {
  for (const route of KEY_ROUTES) {
    const [name, { method, path, scopes = [] }] = route;
    test(`${method} /api/v1${path} needs ${scopes.join(" and ")}`, async () => {
      const own = await makeOrganization(db, { plan: "business" });
      const things = await makeThings(own, "business");
      const others = KEY_SCOPES.filter((scope) => !scopes.includes(scope));
      const { key: without } = await makeKey(db, own, { scopes: others });
      assert.equal(await askAsKey(without, route, things), "403 scope_required", others.join());
      if (scopes.length > 1) {
        const { key: half } = await makeKey(db, own, { scopes: ["manage"] });
        assert.equal(await askAsKey(half, route, things), "403 scope_required", "manage alone");
      }
      const { key: foreign } = await makeKey(db, stranger.organizationId, { scopes });
      if (path.includes(":"))
        assert.equal(await askAsKey(foreign, route, things), "404 not_found", "another organization");
      const { key } = await makeKey(db, own, { scopes });
      assert.equal(await askAsKey(key, route, things), String(STATUSES[name as AppRouteName] ?? 200));
    });
  }

  test("call nothing that has no scopes", async () => {
    const { key } = await makeKey(db, owner, { scopes: KEY_SCOPES });
    const readable = Object.values(READ_ROUTES).map(({ path }) => `GET ${path}`);
    for (const [name, { method, path }] of Object.entries({ ...APP_ROUTES, ...ACCOUNT_ROUTES } as Record<
      string,
      AppRoute | AccountRoute
    >)) {
      if (KEY_ROUTES.some(([each]) => each === name) || readable.includes(`${method} ${path}`)) continue;
      const url = `${API_PREFIX}${fillIn(path, things)}`;
      const { statusCode } = await app.inject({ method, url, headers: { authorization: `Bearer ${key}` } });
      assert.ok(statusCode === 404 || statusCode === 405, `${name}: ${statusCode}`);
    }
  });
});

const accountRoutes: readonly AccountRoute[] = Object.values(ACCOUNT_ROUTES);

describe("account routes", () => {
  for (const { method, path, role: needed } of accountRoutes) {
    test(`${method} ${path}`, async () => {
      const filled = path.replaceAll(/:\w+/g, "nobody");
      const status = async (member: Pick<SignedIn, "headers">) =>
        (await askApp(app, member, `${method} ${filled}`, method === "GET" || method === "DELETE" ? undefined : {}))
          .status;
      if (needed === "anyone") assert.notEqual(await status(nobody), 401);
      else assert.equal(await status(nobody), 401, "no one");
      for (const role of ROLES_OF_MEMBERS) {
        const member = await signIn(service, { role, organizationId: owner });
        const isAllowed = needed === "anyone" || needed === "person" || roleIncludes(role, needed);
        const answer = await status(member);
        if (isAllowed) assert.ok(answer !== 401 && answer < 500, `${role}: ${answer}`);
        else assert.equal(answer, 403, role);
      }
    });
  }
});

test("every route is in the tables", async () => {
  const listed = new Set(
    [...Object.values(APP_ROUTES), ...accountRoutes].map(({ method, path }) => `${method} ${APP_PREFIX}${path}`),
  );
  const mounted = new Set<string>();
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
    const urls = (await listRoutes(app, method)).filter((url) => url.startsWith(`${APP_PREFIX}/`));
    for (const url of urls) mounted.add(`${method} ${url}`);
  }
  assert.deepEqual([...mounted].sort(), [...listed].sort());
});
