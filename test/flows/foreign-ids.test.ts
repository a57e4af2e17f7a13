import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { API_KEY_ID, ORGANIZATION_ID, REFERENCE, WIDGET_ID } from "#contract/ids.ts";
import { randomId, systemRandom } from "../../src/server/lib/secrets/random.ts";
import { createTestApp } from "../support/app/app.ts";
import { makeCaller } from "../support/app/read-api.ts";
import { listRoutes } from "../support/app/routes.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget } from "../support/builders.ts";

// One organization's key, every route, and every id of another organization in every place an id can appear.

const { app, deps } = await createTestApp();

const mine = await makeCaller(deps.db);
const own = await makeBooking(deps.db, mine.owner, { widgetId: mine.widgetId, customer_email: "own@example.com" });

const theirs = await makeForeignOrganization();
const routes = (await listRoutes(app, "GET")).filter((url) => !url.endsWith("*"));

async function makeForeignOrganization() {
  const owner = await makeOrganization(deps.db, { name: "Theirs Ltd" });
  const widgetId = await makeWidget(deps.db, owner, {
    name: "Theirs",
    bookingUrl: "https://theirs.example/book",
  });
  const { id: keyId, key } = await makeKey(deps.db, owner);
  const { reference } = await makeBooking(deps.db, owner, {
    widgetId,
    service_name: "Foreign Service",
    staff: JSON.stringify([{ id: "foreign-staff", name: "Foreign Staff" }]),
    customer_name: "Foreign Customer",
    customer_email: "foreign@example.com",
    customer_phone: "+49 30 777 00 77",
    customer_notes: "Foreign Notes",
    answers: JSON.stringify([{ questionId: "q", question: "Foreign Question", answer: "Foreign Answer" }]),
    attribution: JSON.stringify({ source: "foreign-source" }),
    external_id: "foreign-external",
    manage_url: "https://foreign.example/manage",
    join_url: "https://foreign.example/join",
  });
  return { owner, widgetId, keyId, key, reference };
}

/** Texts that would reveal the other organization's data: on any route, and on one that needs a key. */
const NEVER = [
  /foreign/i,
  /777 00 77/,
  ...[theirs.keyId, theirs.key, theirs.reference].map((text) => new RegExp(text)),
];
const NEVER_UNDER_API = [...NEVER, /theirs/i, ...[theirs.owner, theirs.widgetId].map((text) => new RegExp(text))];

/** Each foreign id next to an unused one of the same form: no response may distinguish them. */
const TRIED: readonly [foreign: string, unknown: string][] = [
  [theirs.owner, randomId(systemRandom, ORGANIZATION_ID)],
  [theirs.widgetId, randomId(systemRandom, WIDGET_ID)],
  [theirs.keyId, randomId(systemRandom, API_KEY_ID)],
  [theirs.reference, randomId(systemRandom, REFERENCE)],
  ["foreign-external", "nobodys-external"],
  ["foreign@example.com", "nobody@example.com"],
];

async function ask(url: string) {
  const response = await app.inject({ url, headers: mine.headers });
  return { status: response.statusCode, body: response.body };
}

type Described = { paths: Record<string, { get?: { parameters?: { name: string }[] } }> };

/** Likely names of an undocumented parameter. */
const LIKELY_NAMES =
  `organization organizationId organization_id org owner tenant account business id ids widgetId widget_id
  reference key keyId email search q filter externalId`.split(/\s+/);

// The plugin's type covers Swagger 2 too; this is the OpenAPI 3 part.
const { paths } = app.swagger() as unknown as Described;
const namesOf = (path: string) => (paths[path]?.get?.parameters ?? []).map(({ name }) => name);
/** Every query parameter that any route documents. */
const PARAMETER_NAMES = [...new Set(Object.keys(paths).flatMap(namesOf))];

/** The URL with the id in its path, in each parameter that the route documents separately, and in all others. */
function listAddresses(route: string, id: string): string[] {
  const own = namesOf(route.replaceAll(/:([A-Za-z]+)/g, "{$1}"));
  const others = [...PARAMETER_NAMES, ...LIKELY_NAMES].filter((name) => !own.includes(name));
  const queries = [...own.map((name) => toQuery([name], id)), toQuery(others, id)];
  return [toPath(route, id), ...queries.map((query) => `${toPath(route, id)}?${query}`)];
}

function toPath(route: string, id: string): string {
  return route.replaceAll(/:[A-Za-z]+|\*/g, encodeURIComponent(id));
}

function toQuery(names: readonly string[], id: string): string {
  return names.map((name) => `${name}=${encodeURIComponent(id)}`).join("&");
}

/** Whether the id in all parameters together changes the response. If it doesn't, no parameter is tried separately. */
async function readsParameters(route: string, id: string): Promise<boolean> {
  const path = toPath(route, id);
  const withAll = await ask(`${path}?${toQuery([...PARAMETER_NAMES, ...LIKELY_NAMES], id)}`);
  return !isDeepStrictEqual(withAll, await ask(path));
}

test("the walk finds the read API's routes and their parameters", () => {
  for (const url of [
    "/api/v1/widgets",
    "/api/v1/bookings",
    "/api/v1/openapi.json",
    "/docs",
    "/healthz",
    "/readyz",
    "/metrics",
  ])
    assert.ok(routes.includes(url), url);
  assert.ok(namesOf("/api/v1/bookings").includes("widget"));
  for (const name of ["since", "until", "widget", "limit", "cursor"]) assert.ok(PARAMETER_NAMES.includes(name), name);
});

for (const route of routes) {
  test(`no parameter of ${route} reaches another organization's data, or reveals whether it exists`, async () => {
    for (const [foreign, unknown] of TRIED) {
      // Outside /api a widget's page is public.
      const isUnderApi = route.startsWith("/api/");
      const isWhole = route.startsWith("/api/v1/") || (await readsParameters(route, foreign));
      const unknownAddresses = listAddresses(route, unknown);
      for (const [i, url] of listAddresses(route, foreign)
        .slice(0, isWhole ? undefined : 1)
        .entries()) {
        const response = await ask(url);
        // The documents' search repeats the query.
        const body = route === "/docs/search" ? response.body.replaceAll(foreign, "") : response.body;
        for (const never of isUnderApi ? NEVER_UNDER_API : NEVER) assert.doesNotMatch(body, never, url);
        if (isUnderApi) assert.deepEqual(response, await ask(String(unknownAddresses[i])), url);
      }
    }
  });
}

test("headers that name another organization change nothing", async () => {
  const headers = {
    ...mine.headers,
    "x-organization-id": theirs.owner,
    "x-tenant": theirs.owner,
    cookie: `org=${theirs.owner}`,
  };
  for (const url of ["/api/v1/widgets", "/api/v1/bookings"]) {
    const response = await app.inject({ url, headers });
    assert.deepEqual({ status: response.statusCode, body: response.body }, await ask(url));
  }
});

test("each key reads its own organization's booking and nothing else", async () => {
  const read = async (key: string) => {
    const response = await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${key}` } });
    return (response.json() as { data: { reference: string }[] }).data.map((booking) => booking.reference);
  };
  assert.deepEqual([await read(mine.key), await read(theirs.key)], [[own.reference], [theirs.reference]]);
});
