import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { CreatedKey } from "#contract/app/keys.ts";
import type { AnonymousBooking, BookingPage } from "#contract/bookings/booking.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../test/support/app/app-api.ts";
import { getJson, makeCaller } from "../../../test/support/app/read-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeBooking, makeKey } from "../../../test/support/builders.ts";
import { isInNetworks } from "./networks.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;

test("the plan is checked before the scope", async () => {
  const { headers } = await makeCaller(deps.db, { plan: "pro", scopes: ["analytics"] });
  const { body } = await getJson(app, "/api/v1/bookings", headers);
  assert.equal((body as { error: { code: string } }).error.code, "plan_required");
});

test("a key made before there were scopes reads bookings and analytics, from anywhere", async () => {
  const { owner, keyId, headers } = await makeCaller(deps.db);
  const columns = ["name", "key_hash", "first_characters", "last_characters", "created_by", "created_at"].join(", ");
  // As the previous version inserts it: without the new columns.
  await sql`with old as (delete from api_keys where id = ${keyId} returning *)
    insert into api_keys (id, organization_id, ${sql.raw(columns)}) select id, organization_id, ${sql.raw(columns)} from old`.execute(
    deps.db,
  );
  for (const route of ["widgets", "bookings", "deletions", "analytics"])
    assert.equal((await getJson(app, `/api/v1/${route}`, headers)).status, 200, `${route} of ${owner}`);
});

test("bookings.anonymous leaves out everything about the customer; bookings wins if a key has both", async () => {
  const { owner, widgetId, headers } = await makeCaller(deps.db, { scopes: ["bookings.anonymous"] });
  const attribution = {
    source: "google",
    channel: "Paid Search",
    touches: 2,
    gclid: "click-1",
    gaClientId: "client-1",
    landingPage: "https://lindenhof.example/?for=mara",
    utmTerm: "quell",
  };
  const { reference } = await makeBooking(deps.db, owner, {
    widgetId,
    customer_phone: "+49 30 5550100",
    customer_notes: "Call Mara",
    answers: JSON.stringify([{ questionId: "q", question: "Born?", answer: "1980-02-03" }]),
    attribution: JSON.stringify(attribution),
    manage_url: "https://scheduler.example/manage/secret",
  });
  const full = await makeKey(deps.db, owner, { scopes: ["bookings", "bookings.anonymous"] });
  const read = async (sent: { authorization: string }) => (await getJson(app, "/api/v1/bookings", sent)).body;
  const { data: all } = (await read({ authorization: `Bearer ${full.key}` })) as BookingPage;
  const { data, nextCursor } = (await read(headers)) as { data: AnonymousBooking[]; nextCursor: string | null };
  assert.deepEqual(all[0]?.attribution, attribution);
  const [booking] = all;
  assert.ok(booking);
  const { customer: _, answers: __, manageUrl: ___, ...rest } = booking;
  assert.deepEqual(data, [{ ...rest, attribution: { source: "google", channel: "Paid Search", touches: 2 } }]);
  assert.deepEqual([data[0]?.reference, nextCursor], [reference, null]);
});

test("scopes and networks are set when a key is created, listed, and in the audit log", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const wanted = {
    name: "Board",
    scopes: ["bookings.anonymous", "analytics"],
    networks: ["203.0.113.0/24", " ::1 ", "::1"],
  };
  const { key, id, ...made } = (await askApp(app, admin, "POST /keys", wanted)).body as CreatedKey;
  const kept = { scopes: ["analytics", "bookings.anonymous"], networks: ["203.0.113.0/24", "::1"] };
  assert.deepEqual({ scopes: made.scopes, networks: made.networks }, kept);
  assert.deepEqual((await askApp(app, admin, "GET /keys")).body, { data: [{ id, ...made }], nextCursor: null });
  const detail = { name: "Board", scopes: "analytics, bookings.anonymous", networks: "203.0.113.0/24, ::1" };
  assert.deepEqual(await readAudit(deps.db, admin.organizationId), [{ action: "api_key.created", target: id, detail }]);
  const ask = async (remoteAddress: string) =>
    await app.inject({ url: "/api/v1/widgets", headers: { authorization: `Bearer ${key}` }, remoteAddress });
  const [near, own, mapped, far] = [
    await ask("203.0.113.7"),
    await ask("::1"),
    await ask("::ffff:203.0.113.7"),
    await ask("203.0.114.7"),
  ];
  assert.deepEqual([near.statusCode, own.statusCode, mapped.statusCode, far.statusCode], [200, 200, 200, 403]);
  assert.deepEqual(far.json(), {
    error: { code: "network_not_allowed", message: "This API key can't be used from your network address." },
  });
});

test("unknown or no scopes and invalid networks are refused at their fields", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  for (const [body, field] of [
    [{ scopes: [] }, "scopes"],
    [{ scopes: ["everything"] }, "scopes"],
    [{ scopes: "bookings" }, "scopes"],
    // A misspelled field must not give a key that works from everywhere.
    [{ network: ["203.0.113.0/24"] }, "network"],
    [{ expires_at: "2030-01-01" }, "expires_at"],
    [{ networks: ["203.0.113.0/33"] }, "networks"],
    [{ networks: ["office"] }, "networks"],
    // An empty variable must not give a key that works from everywhere.
    [{ networks: [""] }, "networks"],
    [{ networks: ["1:2:3:4:5:6:7:8:9"] }, "networks"],
    [{ networks: ["2001:db8::/129"] }, "networks"],
    [{ networks: Array.from({ length: 21 }, (_, n) => `10.0.0.${n}`) }, "networks"],
  ] as const) {
    const response = await askApp(app, admin, "POST /keys", { name: "x", ...body });
    const { error } = response.body as { error: { fields: object } };
    assert.deepEqual([response.status, Object.keys(error.fields)], [422, [field]], JSON.stringify(body));
  }
});

test("a network contains its addresses and no others", () => {
  for (const [networks, address, isInside] of [
    [["10.0.0.0/8"], "10.255.0.1", true],
    [["10.0.0.0/8"], "11.0.0.1", false],
    [["10.1.2.3"], "10.1.2.3", true],
    [["10.1.2.3"], "10.1.2.4", false],
    [["0.0.0.0/0"], "198.51.100.9", true],
    [["2001:db8::/32"], "2001:db8:1::5", true],
    [["2001:db8::/32"], "2001:db9::5", false],
    [["2001:db8::/32", "10.0.0.0/8"], "::ffff:10.2.3.4", true],
  ] as const)
    assert.equal(isInNetworks(networks, address), isInside, `${address} in ${networks}`);
});
