import assert from "node:assert/strict";
import { test } from "node:test";
import type { InjectOptions } from "fastify";
import { type RawBuilder, sql } from "kysely";
import type { Reference } from "#contract/ids.ts";
import { hashApiKey } from "../../src/server/api-keys/token.ts";
import { findHome } from "../../src/server/db/home.ts";
import { inHome } from "../../src/server/db/statements/transactions.ts";
import { createTestApp } from "../support/app/app.ts";
import { makeCaller } from "../support/app/read-api.ts";
import { listRoutes } from "../support/app/routes.ts";
import { openWire } from "../support/app/wire.ts";
import { makeBooking } from "../support/builders.ts";

// Every kind of request, successful or not, with personal data, keys and addresses wherever a caller can put them; then the
// whole log is searched for any of them.

const { app, deps, lines } = await createTestApp();
const { exchange } = await openWire(app);
const caller = await makeCaller(deps.db);
const pro = await makeCaller(deps.db, { plan: "pro" });

const CUSTOMER = {
  name: "Zephyrine Quandt",
  email: "zephyrine.quandt@mail.example",
  phone: "+49 171 5550199",
  notes: "allergic to penicillin",
  answer: "three wisdom teeth",
};
const VISITOR_ADDRESS = "203.0.113.77";
const VISITOR_ADDRESS_6 = "2001:db8::77";
const AGENT = "Mozilla/5.0 (MarkerPhone)";

const PERSONAL = {
  customer_name: CUSTOMER.name,
  customer_email: CUSTOMER.email,
  customer_phone: CUSTOMER.phone,
  customer_notes: CUSTOMER.notes,
  answers: JSON.stringify([{ questionId: "q1", question: "Which?", answer: CUSTOMER.answer }]),
  attribution: JSON.stringify({ gclid: "click-marker", referrer: "https://referrer-marker.example/" }),
  manage_url: "https://scheduler.example/manage-marker",
};
const stored = await makeBooking(deps.db, caller.owner, { widgetId: caller.widgetId, ...PERSONAL });

const NEVER_LOGGED: readonly string[] = [
  ...Object.values(CUSTOMER),
  "Zephyrine",
  "5550199",
  "penicillin",
  "wisdom",
  "click-marker",
  "referrer-marker",
  "manage-marker",
  stored.reference,
  caller.key,
  pro.key,
  ...[caller.key, pro.key].map((key) => key.slice("svc_live_".length)),
  ...[caller.key, pro.key].map((key) => hashApiKey(key).toString("hex")),
  "svc_live_",
  VISITOR_ADDRESS,
  VISITOR_ADDRESS_6,
  "127.0.0.1",
  "MarkerPhone",
  "Bearer",
];

const from = { remoteAddress: VISITOR_ADDRESS };
const CARRIED = {
  "user-agent": AGENT,
  "x-forwarded-for": `${VISITOR_ADDRESS}, ${VISITOR_ADDRESS_6}`,
  "x-real-ip": VISITOR_ADDRESS,
  "x-request-id": CUSTOMER.email,
  referer: `https://app.example/?email=${CUSTOMER.email}`,
  cookie: `session=${caller.key}; name=Zephyrine`,
};

async function listRequests(): Promise<InjectOptions[]> {
  const email = encodeURIComponent(CUSTOMER.email);
  const keys = [
    caller.headers.authorization,
    pro.headers.authorization,
    `Bearer ${caller.key}x`,
    `Bearer ${caller.key} ${CUSTOMER.email}`,
    `Basic ${caller.key}`,
    "",
  ];
  const queries = [
    "",
    `?since=${email}`,
    `?limit=${email}&limit=${caller.key}`,
    `?widget=${email}`,
    `?cursor=${caller.key}`,
    `?api_key=${caller.key}&email=${email}&ip=${VISITOR_ADDRESS}`,
    `?%zz=${email}`,
  ];
  const paths = [
    ...(await listRoutes(app, "GET")).filter((url) => !url.endsWith("*")),
    `/api/v1/bookings/${stored.reference}`,
    `/api/v1/bookings/${email}`,
    `/${caller.key}`,
    `/%zz/${email}`,
    `/api/v1/${VISITOR_ADDRESS}`,
  ];
  const asked = paths.flatMap((path) =>
    keys.flatMap((authorization) =>
      queries.map((query): InjectOptions => ({ url: path + query, headers: { ...CARRIED, authorization } })),
    ),
  );
  const otherMethods = (["HEAD", "POST", "PUT", "DELETE", "OPTIONS"] as const).map(
    (method): InjectOptions => ({
      url: `/api/v1/bookings?email=${email}`,
      method,
      headers: { ...CARRIED, ...caller.headers, "content-type": "application/json" },
      ...(method === "HEAD" ? {} : { payload: JSON.stringify(CUSTOMER) }),
    }),
  );
  return [...asked, ...otherMethods];
}

function assertLogIsClean(): void {
  const log = lines.join("");
  assert.deepEqual(
    NEVER_LOGGED.filter((text) => log.includes(text)),
    [],
  );
  assert.doesNotMatch(log, /\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/);
}

test("no key, customer field or IP address is logged by any request, served or refused", async () => {
  const statuses = new Set<number>();
  for (const request of await listRequests()) {
    const response = await app.inject({ ...from, ...request });
    statuses.add(response.statusCode);
  }
  assert.deepEqual([...statuses].sort(), [200, 302, 400, 401, 403, 404, 405]);
  assert.ok(lines.length > 0);
  assertLogIsClean();
});

test("no key, customer field or IP address is logged for malformed requests", async () => {
  for (const bytes of [
    `${CUSTOMER.email} ${caller.key}\r\n\r\n`,
    `GET /${CUSTOMER.email} HTTP/9.9\r\nAuthorization: Bearer ${caller.key}\r\n\r\n`,
    `GET /x HTTP/1.1\r\n${CUSTOMER.name}\r\n\r\n`,
    `GET /${caller.key} HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`,
    `GET /api/v1/widgets HTTP/1.1\r\nHost: ${CUSTOMER.email}\r\nConnection: close\r\nAuthorization: Bearer ${caller.key}\r\n\r\n`,
  ])
    await exchange(bytes);
  assertLogIsClean();
});

test("no key, customer field or IP address is logged when the database fails, even from row values in its message", async () => {
  const { db } = deps;
  const request = { ...from, url: "/api/v1/bookings", headers: { ...CARRIED, ...caller.headers } };
  // Casting a customer's field to a number makes PostgreSQL quote it in its message.
  const { group } = await findHome(db, caller.owner);
  const bookings = sql.id(group?.names.get("bookings") ?? "bookings");
  const change = (statements: readonly RawBuilder<unknown>[]) =>
    inHome(db, caller.owner, async (transaction) => {
      await sql`set local citus.enable_manual_changes_to_shards = on`.execute(transaction);
      await sql`set local citus.enable_ddl_propagation = off`.execute(transaction);
      for (const statement of statements) await statement.execute(transaction);
    });
  await change([
    sql`alter table ${bookings} rename to bookings_behind`,
    sql`create view ${bookings} as select organization_id, reference, widget_id, status, created_at, start_at, end_at,
    time_zone, service_id, service_name, staff, customer_name, customer_email, customer_phone::integer::text as customer_phone,
    customer_notes, answers, attribution, external_id, manage_url, join_url,
    case when customer_phone::integer > 0 then api_json end as api_json from bookings_behind`,
  ]);
  const linesBefore = lines.length;
  assert.equal((await app.inject(request)).statusCode, 500);
  const failure = lines
    .slice(linesBefore)
    .map((line) => JSON.parse(line))
    .find((line) => line.level === "error");
  const { stack, ...error } = failure.error;
  assert.deepEqual(error, { type: "DatabaseError", code: "22P02", routine: "pg_strtoint32_safe" });
  assert.match(stack, /queries\.ts/);

  await change([sql`drop view ${bookings}`, sql`alter table bookings_behind rename to ${bookings}`]);
  assert.equal((await app.inject(request)).statusCode, 200);
  await assert.rejects(
    makeBooking(db, caller.owner, { widgetId: caller.widgetId, ...PERSONAL, reference: stored.reference as Reference }),
  );
  assertLogIsClean();
});

test("the check finds planted data", () => {
  lines.push(`{"name":"planted","email":"${CUSTOMER.email}"}\n`);
  assert.throws(assertLogIsClean);
  lines.pop();
  lines.push('{"name":"planted","peer":"198.51.100.4"}\n');
  assert.throws(assertLogIsClean);
  lines.pop();
  assertLogIsClean();
});

test("a request's log line has its id, method, route pattern, status, duration and organization, and nothing else", async () => {
  const linesBefore = lines.length;
  await app.inject({
    ...from,
    url: `/api/v1/bookings?widget=${caller.widgetId}`,
    headers: { ...CARRIED, ...caller.headers },
  });
  const [line, ...more] = lines.slice(linesBefore).map((text) => JSON.parse(text));
  assert.deepEqual(more, []);
  const { at, requestId, durationMs, ...rest } = line;
  assert.deepEqual(rest, {
    level: "info",
    name: "request.finished",
    method: "GET",
    route: "/api/v1/bookings",
    status: 200,
    organizationId: caller.owner,
  });
  assert.match(requestId, /^req_/);
  assert.equal(typeof durationMs, "number");
  assert.match(at, /Z$/);
});
