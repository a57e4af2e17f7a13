import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditAction, AuditPage, AuditPeople } from "#contract/app/audit.ts";
import { HOUR_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp } from "../../../test/support/app/app-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeOrganization, NOON } from "../../../test/support/builders.ts";
import { auditBy, auditByOperator } from "../audit/audit-by.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;

const owner = await makeOrganization(deps.db);
const admin = await signIn(testApp, { role: "admin", organizationId: owner });
const former = await signIn(testApp, { role: "member", organizationId: owner });
await deps.db.updateTable("users").set({ name: "Mina Yıldız" }).where("id", "=", former.userId).execute();
await deps.db.deleteFrom("members").where("user_id", "=", former.userId).execute();
// Signing in is logged too.
await deps.db.deleteFrom("audit_entries").where("organization_id", "=", owner).execute();

type Entry = { action: AuditAction; by?: string; target?: string; name?: string; detail?: Record<string, string> };
const ENTRIES: readonly Entry[] = [
  { action: "widget.created", by: admin.userId, target: "w_1", name: "Front page" },
  { action: "widget.went_live", by: admin.userId, target: "w_1", name: "Front page" },
  {
    action: "member.role_changed",
    by: former.userId,
    target: "Someone@example.com",
    detail: { from: "member", to: "admin" },
  },
  { action: "endpoint.turned_off", target: "we_1", name: "=CRM" },
  { action: "booking.deleted", by: former.userId, target: "SVC-222222" },
];
const atOf = (index: number) => new Date(NOON.getTime() - (ENTRIES.length - index) * HOUR_MS);
for (const [index, { by: userId, ...entry }] of ENTRIES.entries()) {
  const email = userId === former.userId ? "mina@example.com" : "a@example.com";
  const person = userId === undefined ? null : { organizationId: owner, userId, email };
  const audit = person ? auditBy(deps, person, atOf(index)) : auditByOperator(deps, owner, atOf(index));
  await audit(deps.db, entry);
}

async function list(query: string): Promise<string[]> {
  const actions: string[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await askApp(app, admin, `GET /audit?limit=2&${query}${cursor}`);
    assert.equal(status, 200, JSON.stringify(body));
    const { data, nextCursor } = body as AuditPage;
    actions.push(...data.map(({ action }) => action));
    if (nextCursor === null) return actions;
    cursor = `&cursor=${nextCursor}`;
  }
}

const newestFirst = ENTRIES.map(({ action }) => action).toReversed();

test("entries are filtered by person, action, time and text, page by page", async () => {
  // biome-ignore format: one case a line
  const cases: [query: string, actions: AuditAction[]][] = [
    ["", newestFirst],
    [`person=${former.userId}`, ["booking.deleted", "member.role_changed"]],
    ["person=operator", ["endpoint.turned_off"]],
    ["action=widget.went_live", ["widget.went_live"]],
    [`from=${atOf(1).toISOString()}&to=${atOf(3).toISOString()}`, ["member.role_changed", "widget.went_live"]],
    ["search=front%20PAGE", ["widget.went_live", "widget.created"]],
    ["search=went%20live", ["widget.went_live"]],
    ["search=turned%20off%20AUTOMATICALLY", ["endpoint.turned_off"]],
    ["search=someone@", ["member.role_changed"]],
    ["search=svc-2222", ["booking.deleted"]],
    ["search=mina@", ["booking.deleted", "member.role_changed"]],
    ["search=yıld", ["booking.deleted", "member.role_changed"]],
    [`search=front&person=${former.userId}`, []],
    ["search=name", []],
    ["search=%25", []],
  ];
  for (const [query, actions] of cases) assert.deepEqual(await list(query), actions, query);
});

test("a wrong filter is refused with a clear message", async () => {
  for (const query of [
    "person=%00",
    "action=widget.eaten",
    "from=never",
    `search=${"x".repeat(201)}`,
    "person=a&person=b",
  ])
    assert.equal((await askApp(app, admin, `GET /audit?${query}`)).status, 400, query);
});

test("people who have left can still be chosen", async () => {
  const { data } = (await askApp(app, admin, "GET /audit/people")).body as AuditPeople;
  assert.deepEqual(
    data.find(({ userId }) => userId === former.userId),
    { userId: former.userId, email: "mina@example.com", name: "Mina Yıldız" },
  );
  assert.equal(data.length, 2);
});

test("the CSV file has the matching entries without formulas, and is itself logged", async () => {
  const { status } = await askApp(app, admin, "GET /audit.csv?dryRun=true");
  assert.equal(status, 204);
  assert.deepEqual(await list("action=audit.exported"), []);
  const response = await app.inject({ url: "/api/app/audit.csv?person=operator", headers: admin.headers });
  assert.equal(response.headers["content-disposition"], 'attachment; filename="audit-log-2026-11-01.csv"');
  assert.deepEqual(response.body.slice(1).split("\r\n"), [
    "at,action,target,name,userId,email,person,detail",
    `${atOf(3).toISOString()},endpoint.turned_off,we_1,'=CRM,,,,`,
    "",
  ]);
  assert.deepEqual(await list("action=audit.exported"), ["audit.exported"]);
  assert.equal((await askApp(app, admin, "HEAD /audit.csv")).status, 405);
});
