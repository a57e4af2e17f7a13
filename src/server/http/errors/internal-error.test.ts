import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeCaller } from "../../../../test/support/app/read-api.ts";
import { buildApp } from "../../app.ts";
import { isDatabaseUnavailable } from "../../db/connections/database-unavailable.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";

const INTERNAL = '{"error":{"code":"internal","message":"Something went wrong in Bookflow. Try again."}}';

const { app, deps, lines } = await createTestApp();
for (const [i, thrown] of listThrown().entries()) {
  app.get(`/thrown/${i}`, async () => {
    throw thrown;
  });
}
app.post("/taken", async () => ({ status: "taken" }));

async function assertInternal(
  request: { url: string; headers?: Record<string, string> },
  service: FastifyInstance = app,
): Promise<void> {
  const response = await service.inject(request);
  assert.deepEqual([response.statusCode, response.body], [500, INTERNAL], request.url);
  const { "x-request-id": id, "cache-control": cache, "content-type": type, etag } = response.headers;
  assert.deepEqual([cache, type, etag], ["no-store", "application/json; charset=utf-8", undefined]);
  assert.match(String(id), /^req_/);
}

type ErrorLine = { name: string; route: string; type: string; code?: string; message?: string | undefined };

/** The log's error lines since the last call, without values that vary between runs. */
function takeErrorLines(): ErrorLine[] {
  const errors = lines
    .splice(0)
    .map((line) => JSON.parse(line))
    .filter((line) => line.level === "error");
  return errors.map(({ name, route, error: { type, code, message } = {} }) => ({ name, route, type, code, message }));
}

test("a database failure gives 500 with a fixed message, and the log has its cause", async () => {
  const { headers, widgetId } = await makeCaller(deps.db);
  // Not whole tables: on a cluster, a missing table means that its shard group has moved.
  const cases: readonly [table: string, column: string, url: string, route: string][] = [
    ["bookings", "created_at", "/api/v1/bookings", "/api/v1/bookings"],
    ["widgets", "id", `/api/v1/bookings?widget=${widgetId}`, "/api/v1/bookings"],
    ["widgets", "name", "/api/v1/widgets", "/api/v1/widgets"],
    ["api_keys", "scopes", "/api/v1/widgets", "/api/v1/widgets"],
    ["organizations", "plan", "/api/v1/bookings?since=never", "/api/v1/bookings"],
  ];
  for (const [table, column, url, route] of cases) {
    await sql`alter table ${sql.id(table)} rename column ${sql.id(column)} to gone`.execute(deps.db);
    await assertInternal({ url, headers });
    assert.deepEqual(takeErrorLines(), [
      { name: "request.failed", route, type: "DatabaseError", code: "42703", message: undefined },
    ]);
    // Requests that need no database still work.
    assert.equal((await app.inject({ url: "/api/v1/widgets" })).statusCode, 401);
    assert.equal((await app.inject({ url: "/api/v1/nothing" })).statusCode, 404);
    await sql`alter table ${sql.id(table)} rename column gone to ${sql.id(column)}`.execute(deps.db);
    // The failure ends with its cause.
    assert.equal((await app.inject({ url: "/api/v1/widgets", headers })).statusCode, 200);
  }
});

test("an unreachable database gives 503 with Retry-After", async () => {
  const { headers } = await makeCaller(deps.db);
  // Nothing listens on port 1.
  const pool = openPool({ url: "postgres://nobody@127.0.0.1:1/nowhere", size: 2, log: deps.log });
  const cutOff = await buildApp({ ...deps, db: openDb(pool) });
  lines.splice(0);
  for (const url of ["/api/v1/widgets", "/api/v1/bookings?since=never"]) {
    const response = await cutOff.inject({ url, headers });
    assert.deepEqual(
      [response.statusCode, response.headers["retry-after"], response.json()],
      [
        503,
        "5",
        {
          error: {
            code: "unavailable",
            message: "The database can't be reached right now. Try again in a few seconds.",
          },
        },
      ],
    );
    const [logged] = lines.splice(0).map((line) => JSON.parse(line));
    assert.deepEqual([logged.name, logged.level, logged.error.code], ["request.unavailable", "warn", "ECONNREFUSED"]);
  }
  await cutOff.close();
  await pool.end();
});

test("PostgreSQL running out of disk, memory or connections, or stopping, gives 503 too", async () => {
  const { headers } = await makeCaller(deps.db);
  for (const code of ["53100", "53200", "53300", "57P01", "57P03", "58030", "08006", "25006"]) {
    await sql`create or replace function fail() returns trigger language plpgsql as
      ${sql.lit(`begin raise exception 'no' using errcode = '${code}'; end`)}`.execute(deps.db);
    await sql`create or replace trigger fail before update on api_keys for each statement execute function fail()`.execute(
      deps.db,
    );
    await assert.rejects(sql`update api_keys set name = name`.execute(deps.db), (error) =>
      isDatabaseUnavailable(error),
    );
  }
  await sql`drop trigger fail on api_keys`.execute(deps.db);
  assert.equal((await app.inject({ url: "/api/v1/widgets", headers })).statusCode, 200);
  assert.equal(isDatabaseUnavailable(Object.assign(new Error("inside"), { code: "53100" })), false);
});

function listThrown(): unknown[] {
  return [
    new Error("inside"),
    Object.assign(new Error("inside"), { statusCode: 404 }),
    // An aborted wait throws an error with a number as its code.
    Object.assign(new Error("inside"), { code: 20 }),
    new DOMException("inside", "AbortError"),
    Object.assign(new Error("inside"), { code: "FST_ERR_X", statusCode: 500 }),
    Object.assign(new Error("connect ECONNREFUSED inside"), { code: "ECONNREFUSED" }),
    "inside",
    { message: "inside", statusCode: 418 },
    null,
    undefined,
  ];
}

test("whatever is thrown, the caller gets the same fixed message and the log has one line", async () => {
  for (const [i] of listThrown().entries()) {
    await assertInternal({ url: `/thrown/${i}` });
    assert.deepEqual(
      takeErrorLines().map(({ name, route }) => [name, route]),
      [["request.failed", `/thrown/${i}`]],
    );
  }
});

test("Fastify's own errors come in the error shape", async () => {
  const NO_JSON = "The body isn't valid JSON.";
  for (const [type, payload, message] of [
    ["application/json", "{", NO_JSON],
    ["application/xml", "<x/>", "Send the body as JSON, with the header `Content-Type: application/json`."],
    ["application/json", '{"__proto__":1}', NO_JSON],
  ] as const) {
    const response = await app.inject({ url: "/taken", method: "POST", headers: { "content-type": type }, payload });
    assert.deepEqual(
      [response.statusCode, response.json()],
      [400, { error: { code: "bad_request", message } }],
      `${type} ${payload}`,
    );
  }
});
