import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../test/support/app.ts";
import { openBrowser } from "../../../test/support/browser-session.ts";
import { signIn } from "../../../test/support/sign-in.ts";
import { rebuildOutdated } from "../funnel/recount/rebuild.ts";

const testApp = await createTestApp();
const { deps } = testApp;

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
        plan: {
          id: "pro",
          name: "Pro",
          features: ["webhooks", "csvExport"],
          retention: "12 months",
          keptSince: "2025-11-01T12:00:00.000Z",
        },
        isRecounting: false,
      },
    },
  );
});

test("an admin changes the name and time zone, and the audit log names the fields", async () => {
  const admin = await signIn(testApp, { role: "admin" });
  const browser = openBrowser(testApp, admin);
  const changed = await browser.send("PATCH", "/api/app/organization", { name: "Elm", timeZone: "asia/tokyo" });
  assert.deepEqual(
    [changed.status, changed.body.name, changed.body.timeZone, changed.body.isRecounting],
    [200, "Elm", "Asia/Tokyo", true],
  );
  await rebuildOutdated(deps, new AbortController().signal);
  assert.equal((await browser.send("GET", "/api/app/organization")).body.isRecounting, false);
  const [entry] = (await browser.send("GET", "/api/app/audit")).body.data;
  assert.deepEqual(
    [entry.action, entry.detail, entry.actor.email],
    ["organization.changed", { name: "Elm", formerName: "Lindenhof Dental", changed: "name, timeZone" }, admin.email],
  );
});

test("an invalid request changes nothing", async () => {
  const owner = await signIn(testApp, { role: "owner" });
  const browser = openBrowser(testApp, owner);
  const faulty = await browser.send("PATCH", "/api/app/organization", { name: "New", timeZone: "Nowhere" });
  assert.deepEqual([faulty.status, Object.keys(faulty.body.error.fields)], [422, ["timeZone"]]);
  assert.equal((await browser.send("PATCH", "/api/app/organization", {})).status, 400);
  assert.equal((await browser.send("GET", "/api/app/organization")).body.name, "Lindenhof Dental");
});

test("members cannot change the plan", async () => {
  const owner = await signIn(testApp, { role: "owner", plan: "free" });
  const browser = openBrowser(testApp, owner);
  await browser.send("PATCH", "/api/app/organization", { name: "New", plan: "business" });
  assert.equal((await browser.send("GET", "/api/app/organization")).body.plan.id, "free");
});
