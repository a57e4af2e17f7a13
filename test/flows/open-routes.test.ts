import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { test } from "node:test";
import type { InjectOptions } from "fastify";
import { BOOK_BODY_MAX_BYTES, COLLECT_BODY_MAX_BYTES } from "#contract/widgets/embed-api.ts";
import type { Config } from "../../src/server/config.ts";
import { OPEN_BODY_MAX_BYTES } from "../../src/server/http/body.ts";
import { createTestApp } from "../support/app/app.ts";
import { listRoutes } from "../support/app/routes.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget } from "../support/builders.ts";
import { compareRequests } from "../support/cost.ts";

// Every route that can be used without signing in, with the most expensive requests that we know of. Each of them costs about as
// little as a plain page, or has a limit per network; every other route refuses a stranger as quickly. Pages of the docs take
// longer once, when they are made. test/flows/hostile-input.test.ts has more requests of this kind.

/** None takes more than three plain requests. Something quadratic takes hundreds. */
const PLAIN_REQUESTS_MAX = 20;
/** Larger than what any of them needs, except logos and imports. */
const CLOSED_BODY_BYTES = 200_000;
const NO_LIMITS = {
  rateLimitConfigPerMinute: 0,
  rateLimitSlotsPerMinute: 0,
  rateLimitBookingsPerMinute: 0,
  rateLimitEventsPerMinute: 0,
  rateLimitSignInPerMinute: 0,
} satisfies Partial<Config>;

const OIDC = { oidcIssuer: "https://issuer.example", oidcClientId: "bookflow" };
const service = await createTestApp({ ...NO_LIMITS, ...OIDC });
const { app, deps } = service;
const owner = await makeOrganization(deps.db);
const widget = await makeWidget(deps.db, owner);
await makeBooking(deps.db, owner, { widgetId: widget });
const [{ id: serviceId } = { id: "" }] = (await app.inject(`/embed-api/${widget}/config`)).json().services;

type OpenRoute = {
  /** The setting with its limit per network, or the limit itself. */
  limit?: keyof typeof NO_LIMITS | number;
  /** If there is a limit, the first one counts towards it. */
  worst: InjectOptions[];
};

/** As long as Node lets a header or an address be. */
const LONG = 15_000;
const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));
const HEADERS = {
  accept: fill("a;q=1,", LONG),
  "accept-language": fill("a;q=1,", LONG),
  "accept-encoding": fill(";q=0.00", LONG),
  cookie: fill("=; ", LONG),
  "user-agent": fill("(compatible; ", LONG),
  "if-none-match": fill("W/,", LONG),
};
const get = (...urls: string[]): InjectOptions[] =>
  urls.flatMap((url) => [
    { url },
    ...Object.entries(HEADERS).map(([name, value]) => ({ url, headers: { [name]: value } })),
    { url: `${url}?${fill("a=1&", LONG - url.length)}` },
  ]);

const nested = (length: number) => fill("[", length / 2) + fill("]", length / 2);
const spoilt = (body: object, length: number) =>
  JSON.stringify({ ...body, ignored: "here" }).replace('"here"', nested(length - JSON.stringify(body).length - 100));
const post = (url: string, body: object, length: number): InjectOptions[] => {
  const headers = { "content-type": "application/json", "idempotency-key": "one", origin: deps.config.baseUrl };
  return [
    JSON.stringify(body),
    spoilt(body, length),
    nested(length),
    `{"a":[${fill("{},", length - 100)}"\\u0000"]}`,
    `{"a":"${fill('\\"', length - 100)}"}`,
    `{"email":"${fill("a.", length / 2)}@${fill("a.", length / 2 - 100)}","password":"${fill("a", 90)}"}`,
  ].map((payload) => ({ method: "POST", url, headers, payload }));
};
const form = (url: string): InjectOptions[] => [
  {
    method: "POST",
    url,
    headers: { "content-type": "application/x-www-form-urlencoded", origin: deps.config.baseUrl },
    payload: fill("a=1&", 900),
  },
];
const auth = (path: string, body: object = {}): OpenRoute => ({
  limit: "rateLimitSignInPerMinute",
  worst: post(`/api/auth${path}`, body, OPEN_BODY_MAX_BYTES),
});
const entry = (path: string, body: object): OpenRoute => ({
  limit: "rateLimitSignInPerMinute",
  worst: post(`/api/app${path}`, body, OPEN_BODY_MAX_BYTES),
});
const page = (...urls: string[]): OpenRoute => ({ worst: get(...urls) });
const largestFile = (part: string) => {
  const names = readdirSync(`dist/assets/${part}`).filter((name) => name.endsWith(".br"));
  const [largest = ""] = names.sort((a, b) => sizeOf(part, b) - sizeOf(part, a));
  return `/assets/${part}/${largest.replace(/\.br$/, "")}`;
};
const sizeOf = (part: string, name: string) => statSync(`dist/assets/${part}/${name}`).size;

const VISIT = { visitId: "6f1f4a9e-6d0c-4c5e-9f0e-3b1f1c9d0a11" };
const PERSON = { name: "Mara Quell", email: "mara@example.com" };
const TOKEN = fill("a", 43);
const LINK = `${fill("1", 18)}${fill("a", 24)}`;
const PASSWORD = "correct horse battery";

const OPEN_ROUTES: Record<string, OpenRoute> = {
  "GET /": page("/"),
  "GET /api/app/sign-in-options": page("/api/app/sign-in-options"),
  "GET /api/auth/callback/oidc": {
    limit: "rateLimitSignInPerMinute",
    worst: get(`/api/auth/callback/oidc?code=a&state=${fill("a", 4_000)}`),
  },
  "GET /api/v1/openapi.json": page("/api/v1/openapi.json"),
  "GET /app": page("/app"),
  "GET /app/*": page(`/app/${fill("a/", 10_000)}`),
  "GET /assets/dashboard/*": page(largestFile("dashboard"), `/assets/dashboard/${fill("../", 10_000)}`),
  "GET /assets/docs/*": page(largestFile("docs"), `/assets/docs/${fill("a", 10_000)}`),
  "GET /assets/frame/*": page(largestFile("frame"), `/assets/frame/${fill("a.", 10_000)}`),
  "GET /button/:widget": page(`/button/${widget}?locale=${fill("de-", 10_000)}`),
  "GET /docs": page("/docs"),
  "GET /docs/*": page(
    "/docs/monitoring",
    "/docs/passages.json",
    "/docs/search?q=s+s+s+s",
    `/docs/${fill("a/", 10_000)}`,
  ),
  "GET /docs/api": page("/docs/api"),
  "GET /embed-api/:widget/config": { limit: "rateLimitConfigPerMinute", worst: get(`/embed-api/${widget}/config`) },
  "GET /embed-api/:widget/slots": {
    limit: "rateLimitSlotsPerMinute",
    worst: get(`/embed-api/${widget}/slots?service=${serviceId}&from=2026-11-01&to=2026-12-01`),
  },
  "GET /embed/:widget": page(`/embed/${widget}`),
  "GET /forgot-password": page("/forgot-password"),
  "GET /healthz": page("/healthz"),
  "GET /invitation": page("/invitation"),
  "GET /loader.js": page("/loader.js"),
  "GET /logos/:organization": page(`/logos/${owner}`),
  "GET /manage/:token": page(`/manage/${LINK}`),
  "GET /meet/:token": page(`/meet/${LINK}`),
  "GET /metrics": { limit: 120, worst: get("/metrics") },
  "GET /readyz": page("/readyz"),
  "GET /reset-password": page("/reset-password"),
  "GET /setup": page("/setup"),
  "GET /shared": page("/shared"),
  "GET /sign-in": page("/sign-in"),
  "GET /sign-up": page("/sign-up"),
  "GET /test-page/:widget": page(`/test-page/${widget}`),
  "GET /unsubscribe/:organization/:token": page(`/unsubscribe/${owner}/${TOKEN}`),
  "GET /w/:widget": page(`/w/${widget}`),
  "POST /api/app/invitations/accept": entry("/invitations/accept", { token: TOKEN, name: "Mara", password: PASSWORD }),
  "POST /api/app/invitations/look-up": entry("/invitations/look-up", { token: TOKEN }),
  "POST /api/app/setup": entry("/setup", {
    ...PERSON,
    token: TOKEN,
    password: PASSWORD,
    organizationName: "A",
    timeZone: fill("A/", 500),
  }),
  "POST /api/app/shared-report": entry("/shared-report", { token: TOKEN }),
  "POST /api/app/sign-up": entry("/sign-up", { token: TOKEN, name: "Mara", password: PASSWORD }),
  "POST /api/app/sign-up/link": entry("/sign-up/link", { email: "mara@example.com" }),
  "POST /api/auth/change-password": auth("/change-password", { currentPassword: PASSWORD, newPassword: PASSWORD }),
  "POST /api/auth/request-password-reset": auth("/request-password-reset", { email: "mara@example.com" }),
  "POST /api/auth/reset-password": auth("/reset-password", { token: TOKEN, newPassword: PASSWORD }),
  "POST /api/auth/sign-in/email": auth("/sign-in/email", { email: "mara@example.com", password: PASSWORD }),
  "POST /api/auth/sign-in/social": auth("/sign-in/social"),
  "POST /api/auth/sign-out": { worst: post("/api/auth/sign-out", {}, OPEN_BODY_MAX_BYTES) },
  "POST /api/auth/two-factor/disable": auth("/two-factor/disable"),
  "POST /api/auth/two-factor/enable": auth("/two-factor/enable"),
  "POST /api/auth/two-factor/generate-backup-codes": auth("/two-factor/generate-backup-codes"),
  "POST /api/auth/two-factor/verify-backup-code": auth("/two-factor/verify-backup-code", { code: "1" }),
  "POST /api/auth/two-factor/verify-totp": auth("/two-factor/verify-totp", { code: "1" }),
  "POST /change-notices/:organization/:connection": {
    worst: post(`/change-notices/${owner}/conn_${fill("a", 16)}`, {}, 128 * 1024),
  },
  "POST /embed-api/:widget/bookings": {
    limit: "rateLimitBookingsPerMinute",
    worst: post(
      `/embed-api/${widget}/bookings`,
      { ...VISIT, serviceId, start: "2026-11-03T09:00:00Z", timeZone: "Europe/Berlin", customer: PERSON },
      BOOK_BODY_MAX_BYTES,
    ),
  },
  "POST /embed-api/:widget/events": {
    limit: "rateLimitEventsPerMinute",
    worst: post(
      `/embed-api/${widget}/events`,
      { ...VISIT, events: [{ step: "widget_viewed" }], attribution: { utmCampaign: fill("{", 4_000) } },
      COLLECT_BODY_MAX_BYTES,
    ),
  },
  "POST /manage/:token": { worst: form(`/manage/${LINK}`) },
  "POST /unsubscribe/:organization/:token": { worst: form(`/unsubscribe/${owner}/${TOKEN}`) },
};

const assertCost = await compareRequests(app, { url: `/embed/${widget}` });

const open: string[] = [];
const closed: { method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"; url: string }[] = [];
for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"] as const) {
  for (const route of await listRoutes(app, method)) {
    const url = route.replaceAll(/:\w+|\*/g, "x");
    const { statusCode } = await app.inject({ method, url, headers: { origin: deps.config.baseUrl } });
    if (statusCode === 401) closed.push({ method, url });
    else open.push(`${method} ${route}`);
  }
}

test("every route that can be used without signing in is listed, and no other", () => {
  assert.deepEqual(open.sort(), Object.keys(OPEN_ROUTES).sort());
});

test("every other route answers 401 in little processor time", async () => {
  const unknownKey = { authorization: `Bearer ${(await makeKey(deps.db, owner)).key.replace(/.$/, "_")}` };
  for (const { method, url } of closed) {
    const worst = method === "GET" || method === "DELETE" ? get(url) : post(url, {}, CLOSED_BODY_BYTES);
    for (const request of [...worst, { url, headers: unknownKey }])
      await assertCost({ ...request, method }, PLAIN_REQUESTS_MAX);
  }
});

for (const [route, { limit, worst }] of Object.entries(OPEN_ROUTES)) {
  if (limit === undefined)
    test(`${route} takes little processor time`, async () => {
      for (const request of worst) await assertCost(request, PLAIN_REQUESTS_MAX);
    });
  else
    test(`${route} is limited per network`, async () => {
      const [first = {}] = worst;
      const limited = await createTestApp({ ...NO_LIMITS, ...OIDC, [limit]: 1 });
      const ask = async () => (await limited.app.inject(first)).statusCode;
      for (let count = 0; count < (typeof limit === "number" ? limit : 1); count++) assert.notEqual(await ask(), 429);
      assert.equal(await ask(), 429);
    });
}
