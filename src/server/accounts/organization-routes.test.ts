import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp } from "../../../test/support/app/app-api.ts";
import { openBrowser } from "../../../test/support/app/browser-session.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeBooking, makeWidget } from "../../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../../test/support/database/count-blocked.ts";
import { isCluster } from "../../../test/support/database/database.ts";
import { ORGANIZATION_TABLES } from "../organizations/delete-organization.ts";
import { listDeleted } from "../organizations/queries.ts";
import { lockOwners } from "./members/member-queries.ts";

const testApp = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
const { app, deps, clock } = testApp;

test("every member sees the organization, its plan, the plan's features and the retention limit", async () => {
  const viewer = await signIn(testApp, { role: "viewer", plan: "pro" });
  const { status, body } = await openBrowser(testApp, viewer).send("GET", "/api/app/organization");
  assert.deepEqual(
    { status, body },
    {
      status: 200,
      body: {
        id: viewer.organizationId,
        name: "Lindenhof Dental",
        timeZone: "UTC",
        createdAt: "2026-11-01T12:00:00.000Z",
        logoUrl: null,
        plan: {
          id: "pro",
          name: "Pro",
          features: ["webhooks", "csvExport"],
          retention: "12 months",
          keptSince: "2025-11-01T12:00:00.000Z",
        },
      },
    },
  );
});

test("an admin changes the name and time zone, and the audit log names the fields", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const browser = openBrowser(testApp, admin);
  const changed = await browser.send("PATCH", "/api/app/organization", { name: "Elm", timeZone: "asia/tokyo" });
  assert.deepEqual([changed.status, changed.body.name, changed.body.timeZone], [200, "Elm", "Asia/Tokyo"]);
  const [entry] = (await browser.send("GET", "/api/app/audit")).body.data;
  assert.deepEqual(
    [entry.action, entry.detail, entry.actor.email],
    [
      "organization.changed",
      {
        name: "Elm",
        formerName: "Lindenhof Dental",
        changed: "name, timeZone",
        timeZone: "none → Asia/Tokyo",
      },
      admin.email,
    ],
  );
});

test("an invalid or empty request changes nothing", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const browser = openBrowser(testApp, owner);
  const faulty = await browser.send("PATCH", "/api/app/organization", { name: "New", timeZone: "Nowhere" });
  assert.deepEqual([faulty.status, Object.keys(faulty.body.error.fields)], [422, ["timeZone"]]);
  assert.equal((await browser.send("PATCH", "/api/app/organization", {})).status, 200);
  assert.equal((await browser.send("GET", "/api/app/organization")).body.name, "Lindenhof Dental");
});

test("members cannot change the plan", async () => {
  const owner = await signIn(testApp, { role: "owner", plan: "free" });
  const browser = openBrowser(testApp, owner);
  await browser.send("PATCH", "/api/app/organization", { name: "New", plan: "business" });
  assert.equal((await browser.send("GET", "/api/app/organization")).body.plan.id, "free");
});

test("an owner deletes the organization by typing its name, and everything of it goes", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const other = await signIn(testApp, { role: "owner" });
  const { organizationId } = owner;
  const widgetId = await makeWidget(deps.db, organizationId);
  await makeBooking(deps.db, organizationId, { widgetId });
  const remove = (body: object, by = owner) => askApp(app, by, "POST /organization/delete", body);
  const admin = await signIn(testApp, { role: "admin", organizationId });
  assert.equal((await remove({ name: "Lindenhof Dental" }, admin)).status, 403);
  const wrong = await remove({ name: "Lindenhof" });
  assert.deepEqual(
    [wrong.status, Object.keys((wrong.body as { error: { fields: object } }).error.fields)],
    [422, ["name"]],
  );
  assert.equal((await remove({ name: "Lindenhof Dental" })).status, 204);

  await assertGone(organizationId);
  assert.equal((await askApp(app, other, "GET /organization")).status, 200);
  const [kept] = await listDeleted(deps.db);
  assert.deepEqual(kept, {
    id: organizationId,
    name: "Lindenhof Dental",
    deletedAt: clock.now(),
    deletedBy: owner.email,
    bookings: 1,
    members: 2,
  });
});

// On Citus, the new endpoint waits for the deletion, which waits for this test.
test("what others add while an organization is being deleted goes too", { skip: isCluster() }, async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const { organizationId } = owner;
  const admin = await signIn(testApp, { role: "admin", organizationId });
  const { deletion } = await deps.db.transaction().execute(async (transaction) => {
    // Members are deleted after endpoints and their statistics.
    await lockOwners(transaction, organizationId);
    const deletion = askApp(app, owner, "POST /organization/delete", { name: "Lindenhof Dental" });
    await untilSomeoneWaits(deps.db);
    const added = await askApp(app, admin, "POST /endpoints", { kind: "webhook", url: "https://127.0.0.1:9/hook" });
    assert.equal(added.status, 201);
    const total = { endpoint_id: "ep_1111111111111111" as EndpointId, interval_hours: 1, from_at: clock.now() };
    await deps.db
      .insertInto("attempt_totals")
      .values({ ...total, organization_id: organizationId, delivered: 1, failed: 0, median_ms: 1, p95_ms: 1 })
      .execute();
    return { deletion };
  });
  assert.equal((await deletion).status, 204);
  await assertGone(organizationId);
});

async function assertGone(organizationId: OrganizationId): Promise<void> {
  for (const table of ORGANIZATION_TABLES) {
    const { rows } = await sql`select from ${sql.table(table)} where organization_id = ${organizationId}`.execute(
      deps.db,
    );
    assert.deepEqual([table, rows.length], [table, 0]);
  }
}

test("an organization created again with the same Idempotency-Key can be deleted again", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  for (const name of ["First", "Second"]) {
    const created = await app.inject({
      method: "POST",
      url: "/api/app/organizations",
      headers: { ...owner.headers, "idempotency-key": "again" },
      payload: { name, timeZone: "Europe/Berlin" },
    });
    assert.equal(created.statusCode, 201);
    const headers = { ...owner.headers, "x-organization": created.json().id };
    const url = "/api/app/organization/delete";
    assert.equal((await app.inject({ method: "POST", url, headers, payload: { name } })).statusCode, 204, name);
    const kept = (await listDeleted(deps.db)).filter(({ id }) => id === created.json().id);
    assert.deepEqual(
      kept.map((each) => each.name),
      [name],
    );
  }
});

test("a logo is a picture, and visitors get it under an address that changes with it", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const picture = Buffer.from("89504e470d0a1a0a0000", "hex");
  const save = (content: Buffer) =>
    askApp(app, admin, "POST /organization/logo", { picture: content.toString("base64") });
  assert.equal((await save(Buffer.from("<svg onload=alert(1)>"))).status, 422);
  assert.equal((await save(Buffer.alloc(201 * 1024))).status, 422);
  assert.equal((await save(picture)).status, 204);
  const { logoUrl } = (await askApp(app, admin, "GET /organization")).body as { logoUrl: string };
  const served = await app.inject(logoUrl);
  assert.deepEqual([served.statusCode, served.headers["content-type"]], [200, "image/png"]);
  assert.deepEqual(served.rawPayload, picture);
  await askApp(app, admin, "DELETE /organization/logo");
  assert.equal((await app.inject(logoUrl)).statusCode, 404);
});
