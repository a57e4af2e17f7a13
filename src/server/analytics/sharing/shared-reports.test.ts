import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReportLink, SharedReport } from "#contract/app/analytics.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../../test/support/app/app-api.ts";
import { type SignedIn, signIn } from "../../../../test/support/app/sign-in.ts";
import { makeBooking, makeWidget } from "../../../../test/support/builders.ts";
import { makeHit, SEARCH_AD } from "../../../../test/support/funnel/hits.ts";
import { removeOrganization } from "../../organizations/delete-organization.ts";
import { recordHits } from "../record/record.ts";

// The clock stands at noon on 1 November 2026.

const testApp = await createTestApp();
const { app, deps, clock } = testApp;
const { db } = deps;
const origin = new URL(deps.config.baseUrl).origin;

/** Two visits on 20 October, one of them from an advert that led to a booking, and one on 31 October. */
async function makePractice() {
  const member = await signIn(testApp, { role: "member" });
  const widgetId = await makeWidget(db, member.organizationId, { name: "Front page" });
  await makeWidget(db, member.organizationId, { name: "Hidden widget" });
  await makeBooking(db, member.organizationId, { widgetId });
  await recordHits(db, [
    makeHit({ widgetId, visit: 1, at: "2026-10-20T10:00:00Z" }),
    makeHit({ widgetId, visit: 2, at: "2026-10-20T11:00:00Z", step: "booking_completed", class: SEARCH_AD }),
    makeHit({ widgetId, visit: 3, at: "2026-10-31T10:00:00Z" }),
  ]);
  return { member, widgetId };
}

async function share(member: SignedIn, query: string, name = "For the agency") {
  const { status, body } = await askApp(app, member, "POST /analytics/links", { name, query });
  assert.equal(status, 201, JSON.stringify(body));
  const link = body as ReportLink;
  return { ...link, token: link.url.split("#")[1] ?? "" };
}

/** As someone without an account. */
async function open(token: string) {
  const { status, body } = await askApp(app, { headers: { origin } as never }, "POST /shared-report", { token });
  return { status, body: body as SharedReport };
}

test("a link shows its report to someone without an account: days, filters and comparison, and nothing else", async () => {
  const { member, widgetId } = await makePractice();
  const link = await share(member, "days=14&channel=Paid+Search&metric=bookings");
  assert.match(link.url, new RegExp(`^${deps.config.baseUrl}/shared#[0-9A-Za-z]{43}$`));
  const { status, body } = await open(link.token);
  assert.equal(status, 200);
  const { report, times, ...about } = body;
  assert.deepEqual(about, {
    organizationName: "Lindenhof Dental",
    name: "For the agency",
    query: "days=14&channel=Paid%20Search",
    widgets: [{ id: widgetId, name: "Front page" }],
  });
  const asMember = await askApp(app, member, "GET /analytics?days=14&channel=Paid+Search");
  assert.deepEqual(report, asMember.body);
  assert.deepEqual([report.from, report.totals.views, report.totals.bookings], ["2026-10-19", 1, 1]);
  assert.equal(
    times.bookings.flat().reduce((sum, count) => sum + count),
    1,
  );
  assert.doesNotMatch(JSON.stringify(body), /mara|quell|SVC-|Hidden widget/i);
});

test("a period can move with the calendar or stay", async () => {
  const { member } = await makePractice();
  const moving = await share(member, "days=2");
  const fixed = await share(member, "from=2026-10-31&to=2026-11-01");
  const before = clock.now();
  clock.set(new Date("2026-11-10T12:00:00Z"));
  const days = await Promise.all([moving, fixed].map(async ({ token }) => (await open(token)).body.report));
  clock.set(before);
  assert.deepEqual(
    days.map(({ from, to, totals }) => [from, to, totals.views]),
    [
      ["2026-11-09", "2026-11-10", 0],
      ["2026-10-31", "2026-11-01", 1],
    ],
  );
});

test("a report ends where the plan's retention does, also after a downgrade", async () => {
  const { member } = await makePractice();
  const { token } = await share(member, "from=2026-09-01&to=2026-11-01");
  await recordHits(db, [
    makeHit({ widgetId: await makeWidget(db, member.organizationId), visit: 4, at: "2026-09-02T10:00:00Z" }),
  ]);
  assert.equal((await open(token)).body.report.totals.views, 4);
  await db.updateTable("organizations").set({ plan: "free" }).where("id", "=", member.organizationId).execute();
  assert.equal((await open(token)).body.report.totals.views, 3);
});

test("a revoked link shows nothing, like one that never was", async () => {
  const { member } = await makePractice();
  const { id, token } = await share(member, "days=30");
  const other = await share(member, "days=7", "Kept");
  assert.equal((await askApp(app, member, `DELETE /analytics/links/${id}`)).status, 204);
  const revoked = await open(token);
  assert.equal(revoked.status, 404);
  for (const guess of ["", token.slice(0, -1), `${token}0`, token.toLowerCase(), id, other.id, "%", "' or true --"])
    assert.deepEqual(await open(guess), revoked, guess);
  assert.equal((await open(other.token)).status, 200);
  assert.deepEqual(
    ((await askApp(app, member, "GET /analytics/links")).body as { data: ReportLink[] }).data.map(({ name }) => name),
    ["Kept"],
  );
});

test("a token opens no other route", async () => {
  const { member } = await makePractice();
  const { token } = await share(member, "days=30");
  for (const url of ["/api/app/analytics", "/api/app/bookings", "/api/app/bookings.csv", "/api/v1/bookings"])
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { cookie: `bookflow.session_token=${token}`, "x-organization": member.organizationId },
    ])
      assert.equal((await app.inject({ url: `${url}?token=${token}`, headers })).statusCode, 401, url);
});

test("links are listed for members only, and those of another organization can't be seen or revoked", async () => {
  const { member } = await makePractice();
  const link = await share(member, "days=30");
  const viewer = await signIn(testApp, { role: "viewer", organizationId: member.organizationId });
  assert.equal((await askApp(app, viewer, "GET /analytics/links")).status, 403);
  const stranger = await signIn(testApp, { role: "owner" });
  assert.deepEqual((await askApp(app, stranger, "GET /analytics/links")).body, { data: [] });
  assert.equal((await askApp(app, stranger, `DELETE /analytics/links/${link.id}`)).status, 404);
  assert.equal((await open(link.token)).status, 200);
});

test("a link can't be made to another organization's widget, or to a report that can't be read", async () => {
  const { member } = await makePractice();
  const { widgetId: foreign } = await makePractice();
  for (const [query, expected] of [
    [`widget=${foreign}`, 404],
    ["days=0", 400],
    ["days=7&from=2026-10-01", 400],
    ["period=someday", 400],
    ["compare=custom", 400],
    ["weekday=someday", 400],
  ] as const)
    assert.equal(
      (await askApp(app, member, "POST /analytics/links", { name: "Wrong", query })).status,
      expected,
      query,
    );
});

test("sharing and revoking are in the audit log, without the token", async () => {
  const { member } = await makePractice();
  const { id, token } = await share(member, "days=7&country=DE");
  await askApp(app, member, `DELETE /analytics/links/${id}`);
  const entries = await readAudit(db, member.organizationId);
  assert.deepEqual(entries, [
    {
      action: "report_link.created",
      target: id,
      detail: { name: "For the agency", report: "days=7&country=DE" },
    },
    { action: "report_link.revoked", target: id, detail: { name: "For the agency" } },
  ]);
  assert.ok(!JSON.stringify(entries).includes(token));
});

test("a deleted organization's links show nothing", async () => {
  const { member } = await makePractice();
  const { token } = await share(member, "days=30");
  await removeOrganization(deps, { id: member.organizationId, name: "Lindenhof", deletedBy: null });
  assert.equal((await open(token)).status, 404);
});

test("the page may not be indexed, framed or cached", async () => {
  const { headers } = await app.inject("/shared");
  assert.equal(headers["x-robots-tag"], "noindex");
  assert.equal(headers["referrer-policy"], "no-referrer");
  assert.equal(headers["x-frame-options"], "DENY");
  assert.equal(headers["cache-control"], "no-store");
});

test("requests for reports are limited per network, and don't use up sign-in attempts", async () => {
  const limited = await createTestApp({ rateLimitSignInPerMinute: 2 });
  const ask = async () =>
    (await askApp(limited.app, { headers: { origin } as never }, "POST /shared-report", { token: "x" })).status;
  assert.deepEqual([await ask(), await ask(), await ask()], [404, 404, 429]);
  const signInAgain = { email: "nobody@example.com", password: "wrong password" };
  const { statusCode } = await limited.app.inject({
    method: "POST",
    url: "/api/auth/sign-in/email",
    headers: { origin },
    payload: signInAgain,
  });
  assert.equal(statusCode, 401);
});
