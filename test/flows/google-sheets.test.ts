import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { recordHits } from "../../src/server/analytics/record/record.ts";
import { createTestApp } from "../support/app/app.ts";
import { openWire } from "../support/app/wire.ts";
import { makeKey, makeOrganization, makeWidget } from "../support/builders.ts";
import { makeHit } from "../support/funnel/hits.ts";

// connectors/google-sheets/Code.gs against the real service.

const RUNNER = fileURLToPath(new URL("../support/programs/run-apps-script.ts", import.meta.url));

const { app, deps, clock } = await createTestApp();
clock.set(new Date());
const { port } = await openWire(app);
const baseUrl = `http://127.0.0.1:${port}`;

const owner = await makeOrganization(deps.db, { plan: "business", timeZone: "UTC" });
const widgetId = await makeWidget(deps.db, owner);
const { key } = await makeKey(deps.db, owner, { scopes: ["analytics"] });
const FORMULA = '=HYPERLINK("https://evil.example")';
const hits = [0, 1, 2].map((visit) => ({
  ...makeHit({ widgetId, visit, at: clock.now(), step: visit === 0 ? "booking_completed" : "widget_viewed" }),
  campaign: visit === 0 ? FORMULA : "autumn",
}));
await recordHits(deps.db, hits);
const today = clock.now().toISOString().slice(0, 10);

type Outcome = { results: unknown[]; sheets: Record<string, unknown[][]>; properties: Record<string, string> };

async function run(calls: readonly { name: string; request?: object }[], usedKey = key): Promise<Outcome> {
  const properties = { "bookflow.baseUrl": `${baseUrl}/`, "bookflow.key": usedKey };
  const { stdout } = await promisify(execFile)(process.execPath, [RUNNER, JSON.stringify({ properties, calls })]);
  return JSON.parse(stdout) as Outcome;
}

test("a refresh writes one sheet per table, and no name that visitors control runs as a formula", async () => {
  const { results, sheets } = await run([{ name: "refresh" }, { name: "refresh" }]);
  assert.deepEqual(results, [null, null]);
  assert.equal(Object.keys(sheets).length, 9);
  const daily = sheets["Bookflow daily"] ?? [];
  assert.deepEqual(
    [daily[0], daily.at(-1)],
    [
      ["day", "views", "bookings", "conversionRate"],
      [today, 3, 1, 1 / 3],
    ],
  );
  assert.equal(daily.length, 91);
  assert.deepEqual(sheets["Bookflow campaign"], [
    ["campaign", "views", "bookings", "conversionRate"],
    [`'${FORMULA}`, 1, 1, 1],
    ["autumn", 2, 0, 0],
  ]);
});

test("a sheet has the organization's own days, today included", async () => {
  // At any time, one of them has another date than Greenwich.
  for (const timeZone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    const far = await makeOrganization(deps.db, { plan: "business", timeZone });
    const { sheets } = await run([{ name: "refresh" }], (await makeKey(deps.db, far, { scopes: ["analytics"] })).key);
    const days = (sheets["Bookflow daily"] ?? []).map(([day]) => day);
    const local = Temporal.Instant.fromEpochMilliseconds(clock.now().getTime()).toZonedDateTimeISO(timeZone);
    assert.deepEqual([days.length, days.at(-1)], [91, local.toPlainDate().toString()]);
  }
});

test("Looker Studio gets the fields that it asks for, in their order", async () => {
  const dateRange = { startDate: today, endDate: today };
  const ask = (table: string, ...names: string[]) => ({
    name: "getData",
    request: { configParams: { table }, dateRange, fields: names.map((name) => ({ name })) },
  });
  const { results } = await run([
    ask("daily", "bookings", "day"),
    ask("device", "device", "views"),
    { name: "getSchema", request: { configParams: { table: "device" } } },
  ]);
  const [daily, device, schema] = results as [{ rows: unknown }, { rows: unknown }, { schema: { name: string }[] }];
  assert.deepEqual(daily.rows, [{ values: [1, today.replaceAll("-", "")] }]);
  assert.deepEqual(device.rows, [{ values: ["mobile", 3] }]);
  assert.deepEqual(
    schema.schema.map(({ name }) => name),
    ["device", "views", "bookings"],
  );
});

test("credentials are checked before they are kept, and can be deleted", async () => {
  const connect = (path: string, usedKey: string) => ({
    name: "setCredentials",
    request: { pathKey: { path, key: usedKey } },
  });
  const { results, properties } = await run([
    connect(baseUrl, `${key.slice(0, -1)}_`),
    connect("example.com", key),
    { name: "resetAuth" },
    { name: "isAuthValid" },
    connect(baseUrl, key),
    { name: "isAuthValid" },
  ]);
  const [invalid, valid] = [{ errorCode: "INVALID_CREDENTIALS" }, { errorCode: "NONE" }];
  assert.deepEqual(results, [invalid, invalid, null, false, valid, true]);
  assert.deepEqual(properties, { "bookflow.baseUrl": baseUrl, "bookflow.key": key });
});

test("a key without the scope analytics gets the service's own message", async () => {
  const bookings = await makeKey(deps.db, owner, { scopes: ["bookings"] });
  const { results, sheets } = await run([{ name: "refresh" }], bookings.key);
  assert.deepEqual(results, [{ thrown: "Bookflow: This API key needs the scope analytics." }]);
  assert.deepEqual(sheets, {});
});

test("Looker Studio shows why there are no rows, and asks for another key when this one stops working", async () => {
  const own = await makeKey(deps.db, owner, { scopes: ["analytics"] });
  const dateRange = { startDate: "2019-01-01", endDate: today };
  const request = { configParams: { table: "device" }, dateRange, fields: [{ name: "device" }] };
  const tooLong = await run([{ name: "getData", request }, { name: "isAuthValid" }], own.key);
  const [shown, isValid] = tooLong.results as [{ thrown: string }, boolean];
  assert.match(shown.thrown, /^Shown: Bookflow: The parameter from is too early: the period can have at most 730 days/);
  assert.equal(isValid, true);
  await deps.db.updateTable("api_keys").set({ revoked_at: clock.now() }).where("id", "=", own.id).execute();
  assert.deepEqual((await run([{ name: "isAuthValid" }], own.key)).results, [false]);
});
