import { test } from "node:test";
import type { InjectOptions } from "fastify";
import { BOOK_BODY_MAX_BYTES, COLLECT_BODY_MAX_BYTES } from "#contract/widgets/embed-api.ts";
import { OPEN_BODY_MAX_BYTES } from "../../src/server/http/body.ts";
import { createTestApp } from "../support/app/app.ts";
import { makeKey, makeOrganization, makeWidget } from "../support/builders.ts";
import { compareRequests } from "../support/cost.ts";
import { DIRECT_HIT } from "../support/funnel/hits.ts";

// One request from a stranger, as large as its route allows, must not block the event loop. Every input here made some pattern
// or loop take quadratic time at full size, or could.

/** A booking takes about ten plain requests, and the largest body twenty; a quadratic pattern takes 600 or more. */
const PLAIN_REQUESTS_MAX = 200;
/** Node refuses more than 16 KB of headers. */
const HEADER_LENGTH = 15_000;
const BOOK_LENGTH = BOOK_BODY_MAX_BYTES - 4_000;

const { app, deps } = await createTestApp({
  rateLimitBookingsPerMinute: 0,
  rateLimitWidgetBookingsPerMinute: 0,
  rateLimitEventsPerMinute: 0,
});
const owner = await makeOrganization(deps.db);
const widget = await makeWidget(deps.db, owner);
const { key } = await makeKey(deps.db, owner);
const [service] = (await app.inject(`/embed-api/${widget}/config`)).json().services;

const fill = (unit: string, length: number) => unit.repeat(Math.floor(length / unit.length));

const nest = (length: number) => `{"visitId":${fill("[", length / 2)}${fill("]", length / 2)}}`;

const book = (change: object, headers: Record<string, string> = {}): InjectOptions => ({
  method: "POST",
  url: `/embed-api/${widget}/bookings`,
  headers: { "content-type": "application/json", "idempotency-key": crypto.randomUUID(), ...headers },
  payload: JSON.stringify({
    visitId: DIRECT_HIT.visitId,
    serviceId: service.id,
    start: "2026-11-03T09:00:00Z",
    timeZone: "Europe/Berlin",
    customer: { name: "Mara Quell", email: "mara@example.com" },
    ...change,
  }),
});

const collect = (change: object, headers: Record<string, string> = {}): InjectOptions => ({
  method: "POST",
  url: `/embed-api/${widget}/events`,
  headers: { "content-type": "application/json", ...headers },
  payload: JSON.stringify({ visitId: crypto.randomUUID(), events: [{ step: "widget_viewed" }], ...change }),
});

const signIn = (email: string): InjectOptions => ({
  method: "POST",
  url: "/api/auth/sign-in/email",
  headers: { "content-type": "application/json", origin: deps.config.baseUrl },
  payload: JSON.stringify({ email, password: "correct horse battery" }),
});

const read = (path: string, headers: Record<string, string> = {}): InjectOptions => ({
  url: `/api/v1${path}`,
  headers: { authorization: `Bearer ${key}`, ...headers },
});

const get = (url: string, headers: Record<string, string> = {}): InjectOptions => ({ url, headers });

const PRIVACY = { "sec-gpc": "1" };
const manyParameters = (length: number) =>
  `https://a.example/?${Array.from({ length: Math.floor(length / 5) }, (_, n) => n.toString(36)).join("&")}`;

const cases: Record<string, InjectOptions> = {
  "an email address of @ and dots": book({ customer: { name: "M", email: `a@${fill(".", BOOK_LENGTH)}@` } }),
  "an email address of dots and @": book({ customer: { name: "M", email: `${fill(".@", BOOK_LENGTH)}` } }),
  "a name of control characters": book({
    customer: { name: fill("\u0001 ", BOOK_LENGTH / 7), email: "m@example.com" },
  }),
  "a landing page of many parameters, with Global Privacy Control": book(
    { attribution: { landingPage: manyParameters(BOOK_LENGTH) } },
    PRIVACY,
  ),
  "a host of many scripts": book({ attribution: { referrer: `https://${fill("üя中ش", BOOK_LENGTH / 4)}.example` } }),
  "a time zone of slashes": book({ timeZone: fill("A/", 100) }),
  "a page of encoded question marks": book({ page: `https://a.example/${fill("%25", 4_000)}` }),
  "answers to one question, many times": book({
    answers: Array.from({ length: 50 }, () => ({ questionId: fill("q", 400), answer: "a" })),
  }),
  "attribution of thousands of fields": book({
    attribution: Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`a${n}`, ""])),
  }),
  "a booking nested deeply": { ...book({}), payload: nest(BOOK_LENGTH) },
  "a booking with attribution nested deeply": {
    ...book({}),
    payload: String(book({ attribution: 7 }).payload).replace(":7", `:${nest(BOOK_LENGTH)}`),
  },
  "a booking of empty objects": { ...book({}), payload: `[${fill("{},", BOOK_LENGTH)}"\\u0000"]` },
  "an event nested deeply": {
    ...collect({}),
    payload: String(collect({ page: 7 }).payload).replace(":7", `:${nest(COLLECT_BODY_MAX_BYTES - 200)}`),
  },
  "a sign-in nested deeply": { ...signIn(""), payload: nest(OPEN_BODY_MAX_BYTES - 100) },
  "a campaign of braces": collect({ attribution: { utmCampaign: fill("{", 4_000), utmSource: fill("{}_", 4_000) } }),
  "a campaign of percent signs": collect({ attribution: { utmCampaign: fill("%25", 4_000) } }),
  "a campaign of spaces": collect({ attribution: { utmCampaign: `a${fill(" ", 4_000)}b` } }),
  "a page of many parameters": collect({ attribution: { landingPage: manyParameters(4_000) } }, PRIVACY),
  "a page with a host of many scripts": collect({ page: `https://${fill("üя中ش", 4_000)}.example/` }),
  "a User-Agent of tablets": collect({}, { "user-agent": fill("silk", HEADER_LENGTH) }),
  "a User-Agent of robots": collect({}, { "user-agent": fill("(compatible; ", HEADER_LENGTH) }),
  "an address to sign in with, of @ and dots": signIn(`a@${fill(".", 7_500)}@`),
  "an address to sign in with, of letters and dots": signIn(`${fill("a.", 7_500)}@`),
  "an address to sign in with, of subdomains": signIn(`a@${fill("a.", 7_500)}@`),
  "a sign-in with a User-Agent of slashes": {
    ...signIn("a@example.com"),
    headers: {
      "content-type": "application/json",
      origin: deps.config.baseUrl,
      "user-agent": fill("A/1 (", HEADER_LENGTH),
    },
  },
  "an Authorization header of spaces": read("/bookings", { authorization: `Bearer ${fill(" ", HEADER_LENGTH)},` }),
  "an Authorization header of letters": read("/bookings", { authorization: `Bearer ${fill("a", HEADER_LENGTH)},` }),
  "an Accept-Language header of commas": get(`/w/${widget}`, { "accept-language": fill("a;q=1,", HEADER_LENGTH) }),
  "an Accept-Language header of spaces": get(`/w/${widget}`, { "accept-language": `de;${fill(" ", HEADER_LENGTH)}x` }),
  "an Accept-Encoding header of weights": get("/loader.js", { "accept-encoding": fill(";q=0.00", HEADER_LENGTH) }),
  "an If-None-Match header of commas": get("/loader.js", { "if-none-match": fill("W/,", HEADER_LENGTH) }),
  "a cookie of equal signs": get("/api/app/me", { cookie: fill("=; ", HEADER_LENGTH) }),
  "a forwarded address of commas": collect({}, { "x-forwarded-for": fill("1,", HEADER_LENGTH) }),
  "an Idempotency-Key of spaces": book({}, { "idempotency-key": fill(" ", HEADER_LENGTH) }),
  "a date with many digits": read(`/bookings?since=2026-11-01T09:30:00.${fill("0", 14_000)}x`),
  "a cursor of digits": read(`/bookings?cursor=${fill("1", 14_000)}`),
  "a limit of zeros": read(`/bookings?limit=${fill("0", 14_000)}x`),
  "a window of digits": read(`/analytics?days=${fill("9", 14_000)}`),
  "a widget of any length": read(`/bookings?widget=w_${fill("a", 14_000)}`),
  "the same parameter again and again": read(`/bookings?${fill("since=1&", 14_000)}`),
  "a path of slashes": get(`/${fill("/", 14_000)}`),
  "a path of dots": get(`/assets/dashboard/${fill("../", 14_000)}x`),
  "a slot query of any length": get(
    `/embed-api/${widget}/slots?service=${fill("a", 14_000)}&from=2026-11-01&to=2026-11-02`,
  ),
};

const assertCost = await compareRequests(app, { url: `/embed/${widget}` });

for (const [what, request] of Object.entries(cases)) {
  test(`${what} takes little time and is answered`, () => assertCost(request, PLAIN_REQUESTS_MAX));
}
