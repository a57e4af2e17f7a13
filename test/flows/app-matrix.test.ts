import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TSchema } from "typebox";
import { type MemberRole, ROLES_OF_MEMBERS, roleIncludes } from "#contract/app/role.ts";
import {
  ACCOUNT_ROUTES,
  type AccountRoute,
  APP_PREFIX,
  APP_ROUTES,
  type AppRoute,
  type AppRouteName,
  ROUTE_TABLE,
  type TableRoute,
} from "#contract/app/routes.ts";
import {
  CONNECTION_ID,
  type ConnectionId,
  ENDPOINT_ID,
  type EndpointId,
  type IdForm,
  type OrganizationId,
  toIdPattern,
  WIDGET_ID,
} from "#contract/ids.ts";
import { planIncludes } from "#contract/plans.ts";
import { API_PREFIX, READ_ROUTES } from "#contract/read-routes.ts";
import { KEY_SCOPES, type KeyScope } from "#contract/scopes.ts";
import { randomId } from "../../src/server/lib/secrets/random.ts";
import { deleteEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { askApp } from "../support/app/app-api.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { listRoutes } from "../support/app/routes.ts";
import { type SignedIn, signIn } from "../support/app/sign-in.ts";
import { fillIn, prepareThings, type Things } from "../support/app/things.ts";
import { makeKey, makeOrganization } from "../support/builders.ts";
import { createWebhookService } from "../support/webhooks/webhook-service.ts";

// Every route of the dashboard API, called by everyone: nobody, each role, another organization's owner, and on each plan.

const MANY = 1_000_000;
const service = await createWebhookService({
  rateLimitApiPerMinute: MANY,
  maxWidgets: MANY,
  maxApiKeys: MANY,
  maxConnections: MANY,
  maxEndpoints: MANY,
});
const { app, deps } = service;
const { db } = deps;
const { makeThings, makeNamed, receiver, calcom } = await prepareThings(service);

const names = Object.keys(APP_ROUTES) as AppRouteName[];
const routeOf = (name: AppRouteName): AppRoute => APP_ROUTES[name];

/** The status, or status and error code, of each route for those allowed to use it; 200 if not listed. */
const STATUSES: Partial<Record<AppRouteName, number | string>> = {
  dismissChecklist: 204,
  createWidget: 201,
  saveSegment: 201,
  deleteSegment: 204,
  createReportLink: 201,
  revokeReportLink: 204,
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
  createReportLink: { name: "Ads", query: "days=7&channel=Paid+Search" },
  saveSegment: { name: "Ads", query: "channel=Paid+Search" },
  changeSegment: { name: "Search" },
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

/** What a request names: its path and body. */
const toText = (name: string, path: string) => `${path} ${JSON.stringify(BODIES[name as AppRouteName])}`;

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
const strangersThings = await makeThings(stranger.organizationId, "business");
const poor = await signIn(service, { role: "owner", plan: "free" });

describe("permissions", () => {
  for (const name of names) {
    const { method, path, role: needed } = routeOf(name);
    test(`${method} ${path}`, async () => {
      assert.equal(await ask(name, nobody, things), "401 unauthorized", "no one");
      for (const [role, member] of members) {
        const isAllowed = roleIncludes(role, needed);
        // What one changes or deletes isn't there for the next.
        const isChanged = isAllowed && method !== "GET" && path.includes(":");
        const own = isChanged ? await makeNamed(owner, "business", toText(name, path)) : {};
        const expected = isAllowed ? String(STATUSES[name] ?? 200) : "403 forbidden";
        assert.equal(await ask(name, member, { ...things, ...own }), expected, role);
        // An organization has a limited number of them.
        if (own.endpoint) await deleteEndpoint(deps, owner, own.endpoint as EndpointId, noAudit);
        const connection = own.connection as ConnectionId | undefined;
        if (connection) await db.deleteFrom("scheduling_connections").where("id", "=", connection).execute();
      }
    });
  }
});

const strangers = new Map<MemberRole, SignedIn>();
for (const role of ROLES_OF_MEMBERS)
  strangers.set(role, await signIn(service, { role, organizationId: stranger.organizationId }));

describe("another organization's owner", () => {
  for (const name of names.filter((each) => routeOf(each).path.includes(":"))) {
    const { method, path } = routeOf(name);
    test(`finds nothing at ${method} ${path}, and neither do their members and viewers`, async () => {
      assert.equal(await ask(name, stranger, things), "404 not_found");
      for (const [role, member] of strangers)
        assert.equal(
          await ask(name, member, things),
          roleIncludes(role, routeOf(name).role) ? "404 not_found" : "403 forbidden",
          role,
        );
    });
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

type KeyRoute = Pick<AppRoute, "method" | "path" | "body"> & {
  name: string;
  role: AccountRoute["role"] | null;
  /** Whether a key with these scopes may call it. */
  allows: (scopes: readonly KeyScope[]) => boolean;
};

/** What a key can call: the routes with scopes, under /api/v1, and those of the read API. */
const KEY_ROUTES: readonly KeyRoute[] = [
  ...Object.entries<TableRoute>(ROUTE_TABLE).flatMap(([name, { scopes: needed, ...route }]) =>
    needed
      ? [{ ...route, name, allows: (scopes: readonly KeyScope[]) => needed.every((each) => scopes.includes(each)) }]
      : [],
  ),
  ...Object.entries(READ_ROUTES).map(([name, { path, scopes: oneOf }]) => ({
    name,
    method: "GET" as const,
    path: name === "getBreakdown" ? `${path}?dimension=channel` : path,
    role: null,
    allows: (scopes: readonly KeyScope[]) => oneOf.some((each) => scopes.includes(each)),
  })),
];

/** Each number's bits say which scopes are in it. */
const COMBINATIONS = Array.from({ length: 2 ** KEY_SCOPES.length - 1 }, (_, i) =>
  KEY_SCOPES.filter((_scope, bit) => ((i + 1) >> bit) & 1),
);

async function askAsKey(key: string, { name, method, path }: KeyRoute, things: Things, given?: object) {
  const sent = given ?? (name === "changeOrganization" ? { name: "Lindenhof" } : BODIES[name as AppRouteName]);
  const body = sent && JSON.stringify(sent).replace(":connection", things.connection);
  const response = await app.inject({
    method,
    url: `${API_PREFIX}${fillIn(path, things)}`,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { payload: body }),
  });
  const code = response.body === "" ? undefined : response.json().error?.code;
  return {
    outcome: code === undefined ? String(response.statusCode) : `${response.statusCode} ${code}`,
    body: response.body,
  };
}

/** The organization's keys, by combination of scopes. */
async function makeKeys(of: OrganizationId) {
  return await Promise.all(
    COMBINATIONS.map(async (scopes) => ({ scopes, key: (await makeKey(db, of, { scopes })).key })),
  );
}
const foreignKeys = await makeKeys(stranger.organizationId);
const ownKeys = await makeKeys(owner);

/** Names of the fields that have the ID of a thing. */
function listIdFields(schema: TSchema | undefined): [name: string, thing: keyof Things, isList: boolean][] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, object> };
  return Object.entries(properties).flatMap(([name, field]) => {
    const text = JSON.stringify(field);
    const isList = text.includes('"array"');
    return ID_FORMS.flatMap(([thing, form]) =>
      text.includes(JSON.stringify(toIdPattern(form)))
        ? [[name, thing, isList] as [string, keyof Things, boolean]]
        : [],
    );
  });
}
const ID_FORMS: readonly [keyof Things, IdForm][] = [
  ["widget", WIDGET_ID],
  ["endpoint", ENDPOINT_ID],
  ["connection", CONNECTION_ID],
];

describe("keys", () => {
  for (const route of KEY_ROUTES) {
    const { name, method, path, body, allows } = route;
    test(`${method} /api/v1${path} with every combination of scopes, on own and foreign things`, async () => {
      for (const { scopes, key } of ownKeys)
        if (!allows(scopes))
          assert.equal((await askAsKey(key, route, things)).outcome, "403 scope_required", scopes.join());
      const ofAllowed = String(STATUSES[name as AppRouteName] ?? 200);
      for (const { scopes, key } of foreignKeys.filter((each) => allows(each.scopes))) {
        const { outcome } = await askAsKey(key, route, path.includes(":") ? things : strangersThings);
        assert.equal(outcome, path.includes(":") ? "404 not_found" : ofAllowed, scopes.join());
      }
      // What one route changes or deletes isn't there for the next.
      const own = method === "GET" ? owner : await makeOrganization(db, { plan: "business" });
      const ownThings = method === "GET" ? {} : await makeNamed(own, "business", toText(name, path));
      const fewest = COMBINATIONS.filter(allows).toSorted((a, b) => a.length - b.length)[0];
      const { key } = await makeKey(db, own, { scopes: fewest ?? [] });
      assert.equal((await askAsKey(key, route, { ...things, ...ownThings })).outcome, ofAllowed);
    });

    for (const [field, thing, isList] of listIdFields(body))
      test(`${method} /api/v1${path} tells no foreign ${field} from an unknown one`, async () => {
        const key = foreignKeys.at(-1)?.key ?? "";
        const send = async (id: string) => {
          const sent = { ...BODIES[name as AppRouteName], [field]: isList ? [id] : id };
          const { outcome, body: received } = await askAsKey(key, route, strangersThings, sent);
          return [outcome, received.replaceAll(id, "ID").replaceAll(/"(?:id|createdAt)":"[^"]*"/g, "")];
        };
        const form = ID_FORMS.find(([each]) => each === thing)?.[1];
        assert.ok(form);
        assert.deepEqual(await send(things[thing]), await send(randomId(deps.random, form)));
      });
  }

  test("may do no more than an admin: nothing that needs an owner, or a person", () => {
    for (const { name, role } of KEY_ROUTES)
      assert.ok(role === null || (role !== "anyone" && role !== "person" && roleIncludes("admin", role)), name);
  });

  test("call nothing that has no scopes", async () => {
    const { key } = await makeKey(db, owner, { scopes: KEY_SCOPES });
    const readable = Object.values(READ_ROUTES).map(({ path }) => `GET ${path}`);
    for (const [name, { method, path }] of Object.entries<TableRoute>(ROUTE_TABLE)) {
      if (KEY_ROUTES.some((each) => each.name === name) || readable.includes(`${method} ${path}`)) continue;
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
        const outcome = await status(member);
        if (isAllowed) assert.ok(outcome !== 401 && outcome < 500, `${role}: ${outcome}`);
        else assert.equal(outcome, 403, role);
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
