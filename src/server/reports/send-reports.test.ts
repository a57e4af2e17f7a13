import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { createTestApp, type TestApp } from "../../../test/support/app/app.ts";
import { askApp } from "../../../test/support/app/app-api.ts";
import { type SignedIn, signIn } from "../../../test/support/app/sign-in.ts";
import { makeOrganization, makeWidget } from "../../../test/support/builders.ts";
import { whileLocked } from "../../../test/support/database/while-locked.ts";
import { makeHit, SEARCH_AD } from "../../../test/support/funnel/hits.ts";
import { openMailServer } from "../../../test/support/programs/mail-server.ts";
import { startServiceProcess } from "../../../test/support/programs/service-process.ts";
import { until } from "../../../test/support/until.ts";
import { recordHits } from "../analytics/record/record.ts";
import { openLivePeriod } from "../test-mode/queries.ts";
import { sendReports } from "./send-reports.ts";

const NOBODY_STOPS = new AbortController().signal;
const CREATED = new Date("2026-08-01T00:00:00.000Z");
/** A Sunday, and the Monday after it at 8:00 in Berlin. */
const SUNDAY = new Date("2026-11-01T12:00:00.000Z");
const MONDAY = new Date("2026-11-02T07:00:00.000Z");
const HALF_AN_HOUR_MS = 30 * 60_000;

type Practice = TestApp & { owner: OrganizationId; live: WidgetId; member: SignedIn };

/** An organization in Berlin with a live widget and a member who subscribed to both reports on Sunday. */
async function openPractice(smtpUrl: string | null, options: { plan?: Plan } = {}): Promise<Practice> {
  const testApp = await createTestApp({ smtpUrl });
  const { deps, clock } = testApp;
  const owner = await makeOrganization(deps.db, {
    timeZone: "Europe/Berlin",
    name: "Lindenhof & Söhne",
    plan: options.plan ?? "business",
  });
  const live = await makeWidget(deps.db, owner, { createdAt: CREATED });
  await openLivePeriod(deps.db, owner, { widgetId: live, now: CREATED });
  const member = await signIn(testApp, { role: "viewer", organizationId: owner });
  clock.set(SUNDAY);
  await askApp(testApp.app, member, "PATCH /reports", { weekly: true });
  return { ...testApp, owner, live, member };
}

const send = ({ deps }: Pick<TestApp, "deps">) => sendReports(deps, NOBODY_STOPS);

/** The parts of an email by content type, decoded, and its headers unfolded. */
function readMail(mail = ""): { headers: string; parts: Map<string, Buffer> } {
  const unfolded = (text: string) => text.replaceAll(/\r\n[ \t]+/g, " ");
  const [head = ""] = mail.split("\r\n\r\n");
  const boundaries = [...mail.matchAll(/boundary="([^"]+)"/g)].map(([, name]) => `--${name}`);
  const pieces = boundaries.reduce((all, boundary) => all.flatMap((piece) => piece.split(boundary)), [mail]);
  const parts = new Map<string, Buffer>();
  for (const piece of pieces) {
    const type = /^Content-Type: ([\w/]+)/im.exec(piece)?.[1] ?? "";
    if (type.startsWith("multipart")) continue;
    const body = piece.slice(piece.indexOf("\r\n\r\n") + 4);
    const isBase64 = /^Content-Transfer-Encoding: base64/im.test(piece);
    parts.set(type, isBase64 ? Buffer.from(body, "base64") : fromQuotedPrintable(body));
  }
  return { headers: unfolded(head), parts };
}

function fromQuotedPrintable(text: string): Buffer {
  const bytes = text
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1");
}

test("a report has totals with their change, top lists, lost bookings and failing endpoints, as text, HTML and picture", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { deps, owner, live, clock, member } = practice;
  const visit = (number: number, at: string, more: object = {}) =>
    makeHit({ widgetId: live, visit: number, at, ...more });
  await recordHits(deps.db, [
    // Sunday 23:30 in Berlin belongs to the week before.
    visit(1, "2026-10-25T22:30:00Z"),
    visit(7, "2026-10-12T09:00:00Z"),
    visit(2, "2026-10-20T09:00:00Z"),
    visit(3, "2026-10-25T23:00:00Z", { class: SEARCH_AD }),
    visit(4, "2026-10-28T09:00:00Z", { class: SEARCH_AD }),
    visit(4, "2026-10-28T09:05:00Z", {
      class: SEARCH_AD,
      step: "booking_completed",
      booking: "a",
      startAt: "2026-10-30T09:05:00Z",
    }),
    visit(5, "2026-11-01T22:30:00Z"),
    visit(5, "2026-11-01T22:31:00Z", { step: "no_availability" }),
    // Monday in Berlin is too late.
    visit(6, "2026-11-01T23:00:00Z"),
  ]);
  await sql`
    insert into endpoints (id, organization_id, kind, url, description, status, secret, secret_hint, secret_created_at,
      failing_since, created_at, updated_at)
    values ('we_1111111111111111', ${owner}, 'webhook', 'https://crm.example/secret', 'CRM <1>', 'enabled', '', '',
      ${CREATED}, ${new Date("2026-10-30T10:00:00Z")}, ${CREATED}, ${CREATED})`.execute(deps.db);
  clock.set(MONDAY);
  await send(practice);

  assert.equal(server.mails.length, 1);
  const { headers, parts } = readMail(server.mails[0]);
  assert.match(headers, new RegExp(`^To: ${member.email}\\r?$`, "m"));
  assert.match(headers, /^Subject: =\?UTF-8\?/m);
  const text = String(parts.get("text/plain"));
  assert.deepEqual(text.replaceAll("\r", "").split("\n\n").slice(0, 6), [
    "Lindenhof & Söhne: weekly report, 26 October – 1 November 2026",
    "Views: 3 (+50% compared with the week before)\nBookings: 1 (Up from 0 the week before)\n" +
      "Conversion rate: 33.3% (0% the week before)\nAverage lead time: 2 days (No bookings the week before)",
    "Top channels\n  Paid Search: 1 booking, 2 views\n  Direct: 0 bookings, 1 view",
    "Top sources\n  google / cpc: 1 booking, 2 views\n  (direct) / (none): 0 bookings, 1 view",
    "Top campaigns\n  Autumn: 1 booking, 2 views\n  No campaign: 0 bookings, 1 view",
    "Lost bookings\n  1 visit found no available times.\n  0 booking attempts failed.",
  ]);
  assert.match(text, /Failing endpoints\r?\n {2}CRM <1>: Deliveries have been failing since 30 Oct 2026\./);
  const page = String(parts.get("text/html"));
  assert.ok(page.includes("Lindenhof &amp; Söhne") && page.includes("CRM &lt;1&gt;") && page.includes("Paid Search"));
  const cid = /src="cid:([^"]+)"/.exec(page)?.[1];
  assert.match(String(server.mails[0]), new RegExp(`^Content-Id: <${cid}>`, "im"));
  assert.equal(parts.get("image/png")?.subarray(0, 8).toString("hex"), "89504e470d0a1a0a");
  assert.ok(text.includes(`${deps.config.baseUrl}/app/${owner}/analytics?from=2026-10-26&to=2026-11-01`));
});

test("a report leaves out test data, and nothing is sent while every widget is in test mode", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { deps, owner, live, clock } = practice;
  const trial = await makeWidget(deps.db, owner, { createdAt: CREATED });
  const at = "2026-10-28T09:00:00Z";
  await recordHits(deps.db, [
    makeHit({ widgetId: live, visit: 1, at }),
    makeHit({ widgetId: trial, visit: 2, at }),
    makeHit({ widgetId: trial, visit: 2, at, step: "booking_completed", booking: "a" }),
    // Imported from before the widget existed.
    makeHit({ widgetId: trial, visit: 3, at: "2026-07-28T09:00:00Z" }),
  ]);
  clock.set(MONDAY);
  await send(practice);
  assert.match(String(readMail(server.mails[0]).parts.get("text/plain")), /Views: 1 .*\r?\nBookings: 0 /);

  await sql`update live_periods set ended_at = ${new Date("2026-10-31T00:00:00Z")}`.execute(deps.db);
  clock.set(new Date("2026-11-16T09:00:00Z"));
  await send(practice);
  assert.equal(server.mails.length, 1);
});

test("two workers at once and later ones send a report once, and the next one a week later", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { clock } = practice;
  await send(practice);
  clock.set(new Date(MONDAY.getTime() - 1));
  await send(practice);
  assert.equal(server.mails.length, 0, "it is not 8:00 in Berlin yet");
  clock.set(MONDAY);
  await Promise.all([send(practice), send(practice)]);
  await send(practice);
  clock.set(new Date("2026-11-09T06:59:59Z"));
  await send(practice);
  assert.equal(server.mails.length, 1);
  clock.set(new Date("2026-11-09T07:00:00Z"));
  await send(practice);
  assert.equal(server.mails.length, 2);
  assert.match(String(readMail(server.mails[1]).parts.get("text/plain")), /: weekly report, 2–8 November 2026\r$/m);
});

test("after a change of time zone, reports are sent at 8:00 in the new one", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { deps, owner, clock } = practice;
  await deps.db.updateTable("organizations").set({ time_zone: "America/New_York" }).where("id", "=", owner).execute();
  clock.set(new Date("2026-11-02T12:59:59Z"));
  await send(practice);
  assert.equal(server.mails.length, 0);
  clock.set(new Date("2026-11-02T13:00:00Z"));
  await send(practice);
  assert.equal(server.mails.length, 1);
});

test("a mail server that can't be reached or says try later is asked again after half an hour; a final refusal isn't", async () => {
  const reply = { recipient: "451 Not now" };
  const server = await openMailServer(reply);
  const practice = await openPractice(server.url);
  const { clock, lines } = practice;
  const countFailed = () => lines.filter((line) => line.includes("mail.failed")).length;
  clock.set(MONDAY);
  await send(practice);
  await send(practice);
  assert.equal(countFailed(), 1);
  const unreachable = await openPractice("smtp://127.0.0.1:1");
  unreachable.clock.set(MONDAY);
  await send(unreachable);
  assert.equal(await countDue(unreachable), 1);

  clock.set(new Date(MONDAY.getTime() + HALF_AN_HOUR_MS + 1));
  reply.recipient = "250 OK";
  await send(practice);
  assert.equal(server.mails.length, 1);

  reply.recipient = "550 Nobody here";
  for (const hour of ["07", "08", "09"]) {
    clock.set(new Date(`2026-11-09T${hour}:00:00Z`));
    await send(practice);
  }
  assert.equal(countFailed(), 2);
});

test("a report whose login is refused after a first one worked is sent half an hour later", async () => {
  const server = await openMailServer({ recipient: "250 OK", logins: ["235 Welcome", "535 Not now"] });
  const practice = await openPractice(server.url.replace("smtp://", "smtp://bookflow:secret@"));
  const { clock } = practice;
  clock.set(MONDAY);
  await send(practice);
  assert.deepEqual([server.mails.length, await countDue(practice)], [0, 1]);
  clock.set(new Date(MONDAY.getTime() + HALF_AN_HOUR_MS + 1));
  await send(practice);
  assert.deepEqual([server.mails.length, await countDue(practice)], [1, 0]);
});

test("an organization whose time zone this runtime doesn't know keeps nobody else from getting a report", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { app, deps, clock, member, lines } = practice;
  const elsewhere = await signIn(practice, { role: "viewer" });
  await askApp(app, elsewhere, "PATCH /reports", { weekly: true });
  const { organizationId } = elsewhere;
  await sql`update organizations set time_zone = 'Mars/Base' where id = ${organizationId}`.execute(deps.db);
  clock.set(MONDAY);
  await assert.rejects(send(practice), /^Error: Reports that failed, and unknown time zones: 1$/);
  assert.deepEqual(listRecipients(server), [member.email]);
  assert.equal(lines.filter((line) => line.includes("report.zone_unknown") && line.includes("Mars/Base")).length, 1);
});

test("an organization whose report can't be read keeps nobody else from getting one, and is tried again", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { app, deps, clock, owner, member, lines } = practice;
  const elsewhere = await signIn(practice, { role: "viewer" });
  await askApp(app, elsewhere, "PATCH /reports", { weekly: true });
  await openLivePeriod(deps.db, elsewhere.organizationId, {
    widgetId: await makeWidget(deps.db, elsewhere.organizationId, { createdAt: CREATED }),
    now: CREATED,
  });
  // Reports are sent in the order of the organizations' ids, so the broken one comes first.
  const isFirst = owner < elsewhere.organizationId;
  const [broken, healthy] = isFirst ? [member, elsewhere] : [elsewhere, member];
  const progress = deps.db
    .selectFrom("visit_progress")
    .selectAll()
    .where("organization_id", "=", broken.organizationId);
  const row = await progress.executeTakeFirstOrThrow();
  await deps.db.deleteFrom("visit_progress").where("organization_id", "=", broken.organizationId).execute();
  const noon = new Date("2026-11-02T12:00:00.000Z");
  clock.set(noon);
  await assert.rejects(send(practice), /^Error: Reports that failed, and unknown time zones: 1$/);
  assert.deepEqual(listRecipients(server), [healthy.email]);
  const failures = lines.filter((line) => line.includes("report.failed"));
  assert.deepEqual([failures.length, failures[0]?.includes(broken.organizationId)], [1, true]);

  await deps.db.insertInto("visit_progress").values(row).execute();
  clock.set(new Date(noon.getTime() + HALF_AN_HOUR_MS + 1));
  await send(practice);
  assert.deepEqual(listRecipients(server), [healthy.email, broken.email]);
});

const listRecipients = ({ mails }: { mails: string[] }) => mails.map((mail) => /^To: (.*?)\r$/m.exec(mail)?.[1]);

/** Reports that are still to be sent about the week before Monday, or an earlier one. */
async function countDue({ deps }: Pick<TestApp, "deps">): Promise<number> {
  const waiting = deps.db.selectFrom("report_subscriptions").select("token").where("next_start", "<=", "2026-10-26");
  return (await waiting.execute()).length;
}

test("a worker killed before it sends leaves the report to the next; one killed while sending doesn't have it sent twice", async () => {
  const reply = { recipient: "250 OK", isSilent: true };
  const server = await openMailServer(reply);
  const { deps, url } = await openPractice(server.url);
  const { db } = deps;
  const settings = { DATABASE_URL: url, SMTP_URL: server.url, ROLE: "all" };
  // Long ago, so that it is due now by the process's own clock.
  await sql`update report_subscriptions set next_start = '2020-01-06'`.execute(db);
  const isTaken = async () =>
    (await db.selectFrom("report_subscriptions").select("tried_at").executeTakeFirstOrThrow()).tried_at !== null;

  // The report stays unfinished.
  await whileLocked(db, "funnel_visits", async () => {
    const first = await startServiceProcess(settings);
    await until(isTaken, "a worker has taken the report");
    await first.kill("SIGKILL");
  });
  assert.equal(server.mails.length, 0);

  const letHalfAnHourPass = () => sql`update report_subscriptions set tried_at = to_timestamp(0)`.execute(db);
  await letHalfAnHourPass();
  const second = await startServiceProcess(settings);
  await until(() => server.mails.length === 1, "the mail server has the report");
  await second.kill("SIGKILL");

  await letHalfAnHourPass();
  reply.isSilent = false;
  await sendReports({ ...deps, clock: { now: () => new Date() } }, NOBODY_STOPS);
  assert.equal(server.mails.length, 1);
});

test("one click ends the subscription, without signing in; opening the link only asks", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { app, deps, owner, member, clock } = practice;
  await askApp(app, member, "PATCH /reports", { monthly: true });
  clock.set(MONDAY);
  await send(practice);
  const { headers } = readMail(server.mails[0]);
  const link = /^List-Unsubscribe: <(.*?)>\r?$/m.exec(headers)?.[1] ?? "";
  assert.match(headers, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
  assert.ok(link.startsWith(`${deps.config.baseUrl}/unsubscribe/${owner}/`));
  const path = new URL(link).pathname;

  const asked = await app.inject(path);
  assert.deepEqual([asked.statusCode, /Unsubscribe from the weekly report\?/.test(asked.body)], [200, true]);
  assert.equal((await app.inject({ method: "HEAD", url: path })).statusCode, 200);
  const elsewhere = path.replace(owner, (await signIn(practice, { role: "owner" })).organizationId);
  const oneClick = { "content-type": "application/x-www-form-urlencoded" };
  const post = (url: string, contentType = oneClick["content-type"], payload = "List-Unsubscribe=One-Click") =>
    app.inject({ method: "POST", url, headers: { "content-type": contentType }, payload });
  await post(elsewhere);
  await post(`${path}x`);
  for (const token of ["%00", "%F0%9F%A6%A4"]) {
    const unknown = path.replace(/[^/]+$/, token);
    assert.deepEqual([(await app.inject(unknown)).statusCode, (await post(unknown)).statusCode], [200, 200], token);
  }
  const open = async (url: string) => /<h1>(.*)<\/h1>/.exec((await app.inject(url)).body)?.[1];
  const truncated = path.slice(0, -1);
  for (const unknown of [truncated, elsewhere, path.replace(/[^/]+$/, "%00")])
    assert.equal(await open(unknown), "This link is no longer valid", unknown);
  const read = async () => (await askApp(app, member, "GET /reports")).body;
  assert.deepEqual(await read(), { weekly: true, monthly: true, isMailOn: true });

  const form = '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n';
  const done = await post(path, "multipart/form-data; boundary=b", form);
  assert.deepEqual([done.statusCode, /You’re unsubscribed/.test(done.body)], [200, true]);
  assert.deepEqual(await read(), { weekly: false, monthly: true, isMailOn: true });
  assert.equal((await post(path)).statusCode, 200, "a second click does no harm");
  await askApp(app, member, "PATCH /reports", { weekly: true });
  assert.equal(await open(path), "This link is no longer valid", "it belongs to the earlier subscription");
  await askApp(app, member, "PATCH /reports", { weekly: false });
  clock.set(new Date("2026-11-09T07:00:00Z"));
  await send(practice);
  assert.equal(server.mails.length, 1);
});

test("whoever unsubscribes and subscribes again on the same day gets no second copy", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { app, member, clock } = practice;
  clock.set(MONDAY);
  await send(practice);
  await askApp(app, member, "PATCH /reports", { weekly: false });
  await askApp(app, member, "PATCH /reports", { weekly: true });
  await send(practice);
  assert.equal(server.mails.length, 1);
});

test("who leaves the organization gets no more reports, and other members keep theirs", async () => {
  const server = await openMailServer();
  const practice = await openPractice(server.url);
  const { app, member, owner, clock } = practice;
  const other = await signIn(practice, { role: "admin", organizationId: owner });
  await askApp(app, other, "PATCH /reports", { weekly: true });
  await askApp(app, member, `DELETE /members/${member.userId}`);
  clock.set(MONDAY);
  await send(practice);
  assert.deepEqual(listRecipients(server), [other.email]);
});

const WITHOUT_COMPARISON = [
  { plan: "free", views: 1, words: "No earlier data", why: "the Free plan keeps 30 days" },
  { plan: "pro", views: 2, words: "Not enough earlier data", why: "the first visit was during the month before" },
] as const;
for (const { plan, views, words, why } of WITHOUT_COMPARISON)
  test(`a month has no comparison when ${why}`, async () => {
    const server = await openMailServer();
    const practice = await openPractice(server.url, { plan });
    const { app, deps, live, member, clock } = practice;
    clock.set(new Date("2026-10-31T12:00:00Z"));
    await askApp(app, member, "PATCH /reports", { monthly: true, weekly: false });
    await recordHits(deps.db, [
      makeHit({ widgetId: live, visit: 1, at: "2026-09-15T09:00:00Z" }),
      makeHit({ widgetId: live, visit: 2, at: "2026-10-01T01:00:00Z" }),
      makeHit({ widgetId: live, visit: 3, at: "2026-10-20T09:00:00Z" }),
    ]);
    clock.set(new Date("2026-11-01T07:00:00Z"));
    await send(practice);
    const text = String(readMail(server.mails[0]).parts.get("text/plain"));
    assert.ok(text.replaceAll("\r", "").includes(`: monthly report, October 2026\n\nViews: ${views} (${words})`), text);
  });

test("without a mail server the screen can say so, and nothing is attempted or skipped", async () => {
  const practice = await openPractice(null);
  const { app, member, clock, lines } = practice;
  assert.deepEqual((await askApp(app, member, "GET /reports")).body, { weekly: true, monthly: false, isMailOn: false });
  clock.set(MONDAY);
  await send(practice);
  assert.ok(!lines.join("").includes("mail."));
  assert.equal(await countDue(practice), 1);
});
