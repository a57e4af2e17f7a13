import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { sql } from "kysely";
import type { Step } from "#contract/analytics/steps.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { createCommandLine } from "../../../test/support/app/cli.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget, NOON } from "../../../test/support/builders.ts";
import { insertMember } from "../accounts/queries.ts";
import { toStepBit } from "../analytics/record/hit.ts";
import { readChecklist } from "../dashboard/overview-queries.ts";
import { ORGANIZATION_TABLES } from "../organizations/delete-organization.ts";
import { insertOrganization } from "../organizations/queries.ts";
import { clearTestData } from "../test-mode/clear-tests.ts";
import { listWidgetsWithViews } from "../widgets/app-queries.ts";
import { DEMO_ID, DEMO_KEY_NAME, DEMO_NAME, DEMO_PEOPLE, DEMO_WIDGETS, DEMO_ZONE, OWNER, WEBSITE } from "./clinic.ts";
import { readCredentials } from "./credentials.ts";
import { loadDemo } from "./load.ts";
import { DEMO_DAYS, makeTraffic } from "./traffic.ts";

const SECRET_KEY = "a secret key for tests, of 32 characters and more";
const { app, deps, url } = await createTestApp({ secretKey: SECRET_KEY });
const { db } = deps;
const commandLine = createCommandLine({ DATABASE_URL: url, SECRET_KEY });

const visits = makeTraffic(NOON);
const hits = visits.flatMap((visit) => visit.hits);
const count = (step: Step) => hits.filter(({ steps }) => steps === toStepBit(step)).length;

let other: OrganizationId;
let contents: Record<string, string>;
let apiKey: string;

async function readContents(): Promise<Record<string, string>> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'schema_migrations'`.execute(db);
  const found: Record<string, string> = {};
  for (const { name } of rows) {
    const { rows: sums } = await sql<{ sum: string }>`
      select count(*) || ' ' || coalesce(md5(string_agg(one::text, ',' order by one::text)), '') as sum
      from ${sql.table(name)} one`.execute(db);
    found[name] = sums[0]?.sum ?? "";
  }
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
async function ask(path: string): Promise<any> {
  const response = await app.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${apiKey}` } });
  assert.equal(response.statusCode, 200, response.body);
  return response.json();
}

before(async () => {
  other = await makeOrganization(db, { name: "Somebody else" });
  const widgetId = await makeWidget(db, other);
  await makeBooking(db, other, { widgetId });
  await makeKey(db, other);
  await signIn({ deps }, { role: "owner", organizationId: other });
  contents = await readContents();
  // An interrupted load is started again.
  const unfinished = { id: DEMO_ID, name: "Unfinished", plan: "free", time_zone: null, created_at: NOON } as const;
  await insertOrganization(db, unfinished);
  const outcome = await loadDemo(deps);
  const bookings = visits.flatMap((visit) => visit.bookings);
  assert.deepEqual(outcome, { kind: "loaded", visits: visits.length, bookings: bookings.length });
  ({ apiKey } = await readCredentials(deps, deps.config));
});

describe("a loaded demo", () => {
  test("has analytics that match the generated visits", async () => {
    const report = await ask(`/analytics?days=${DEMO_DAYS}`);
    const { views, bookings, failed, noAvailability, slotSessions } = report.totals;
    assert.deepEqual(
      { views, bookings, failed, noAvailability, slotSessions },
      {
        views: visits.length,
        bookings: count("booking_completed"),
        failed: count("booking_failed"),
        noAvailability: count("no_availability"),
        slotSessions: count("slot_selected"),
      },
    );
    assert.equal(report.timeZone, DEMO_ZONE);
    const days = Map.groupBy(visits, ({ hits: [first] }) => {
      const at = Temporal.Instant.fromEpochMilliseconds(first?.at.getTime() ?? 0);
      return at.toZonedDateTimeISO(DEMO_ZONE).toPlainDate().toString();
    });
    for (const { day, views } of report.daily) assert.equal(views, days.get(day)?.length, day);
    const channels = Map.groupBy(visits, ({ hits: [first] }) => first?.channel);
    for (const { key, views } of report.channels) assert.equal(views, channels.get(key)?.length, key);
    assert.equal(report.channels.length, 12);
  });

  test("has its widgets, and bookings for those that store them", async () => {
    const { data: widgets } = await ask("/widgets");
    assert.deepEqual(
      widgets.map(({ id }: { id: string }) => id),
      DEMO_WIDGETS.map(({ id }) => id),
    );
    const stored = new Map<string, { createdAt: string; customer: object; attribution: object }>();
    for (let cursor = ""; ; ) {
      const { data, nextCursor } = await ask(`/bookings?limit=500${cursor}`);
      for (const booking of data) stored.set(booking.reference, booking);
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    const lines = visits.flatMap((visit) => visit.bookings.map(({ line }) => line));
    assert.equal(stored.size, lines.length);
    for (const { reference, createdAt, customer, attribution } of lines) {
      const booking = stored.get(reference);
      assert.deepEqual(
        [booking?.createdAt, booking?.customer, booking?.attribution],
        [createdAt, customer, attribution],
      );
    }
  });

  test("has upcoming appointments whose times are taken and whose links work", async () => {
    const { data } = await ask("/bookings?limit=500");
    const coming = data.filter(({ start }: { start: string }) => start > NOON.toISOString());
    assert.ok(coming.length > 20);
    const { pathname } = new URL(coming[0].manageUrl);
    assert.equal((await app.inject({ url: pathname })).statusCode, 200);
  });

  test("has bookings that were cancelled and moved, each with its change", async () => {
    const changed = visits.flatMap(({ bookings }) => bookings).filter(({ change }) => change !== null);
    const expected = changed
      .toSorted((a, b) => Number(b.change?.at) - Number(a.change?.at))
      .map(({ line, change }) => [
        line.reference,
        change?.movedTo ? "rescheduled" : "cancelled",
        change?.movedTo ? "confirmed" : "cancelled",
        change?.movedTo?.startAt.toISOString() ?? line.start,
        line.start,
      ]);
    const { data } = await ask("/changes?limit=500");
    const shown = data.map((one: Record<string, string>) => [
      one["reference"],
      one["type"],
      one["status"],
      one["start"],
      one["previousStart"],
    ]);
    assert.deepEqual(shown, expected);
    const { data: newest } = await ask("/bookings?limit=500");
    for (const { reference, status, start } of newest) {
      const change = expected.find(([changedReference]) => changedReference === reference);
      assert.equal(status, change?.[2] ?? "confirmed");
      if (change) assert.equal(start, change[3]);
    }
    assert.deepEqual((await ask("/events?limit=100")).data, []);
  });

  test("shows as cancelled what a visitor cancels on the appointment's page", async () => {
    const { data } = await ask("/bookings?limit=500");
    const coming = data.find(
      ({ start, status }: { start: string; status: string }) => start > NOON.toISOString() && status === "confirmed",
    );
    const { pathname } = new URL(coming.manageUrl);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    assert.equal((await app.inject({ method: "POST", url: pathname, headers: form, payload: "" })).statusCode, 303);
    const { data: after } = await ask("/bookings?limit=500");
    assert.deepEqual(
      after.find(({ reference }: { reference: string }) => reference === coming.reference),
      { ...coming, status: "cancelled" },
    );
  });

  test("shows its widgets as live, and makes bookings that aren't tests", async () => {
    const listed = await listWidgetsWithViews(db, DEMO_ID, { baseUrl: deps.config.baseUrl });
    assert.deepEqual([...new Set(listed.map(({ mode }) => mode))], ["live"]);
    const config = await app.inject({ url: `/embed-api/${WEBSITE.id}/config` });
    assert.equal(config.json().widget.isTest, false);
    const { checklist } = await readChecklist(db, DEMO_ID, { baseUrl: deps.config.baseUrl, pageKind: 1, userId: "" });
    assert.ok(checklist.isLive);
    // A demo's own new widget explains test mode as everywhere.
    const id = await makeWidget(db, DEMO_ID);
    const [added] = await listWidgetsWithViews(db, DEMO_ID, { baseUrl: deps.config.baseUrl, id });
    assert.equal(added?.mode, "test");
    await db.deleteFrom("widgets").where("id", "=", id).execute();
  });

  test("has no test data, so clearing that deletes nothing", async () => {
    const patient = { db: deps.longRunningDb, clock: deps.clock };
    const audit = async () => undefined;
    for (const { id: widgetId, name } of DEMO_WIDGETS) {
      const cleared = await clearTestData(patient, DEMO_ID, { widgetId, name, audit });
      assert.deepEqual(cleared, { bookings: 0, visits: 0, deliveries: 0 });
    }
    assert.equal((await ask(`/analytics?days=${DEMO_DAYS}`)).totals.views, visits.length);
    const { data } = await ask("/bookings?limit=500");
    const { pathname } = new URL(data.find(({ start }: { start: string }) => start > NOON.toISOString()).manageUrl);
    assert.equal((await app.inject({ url: pathname })).statusCode, 200);
  });

  test("has an audit log of what the operator created, with names", async () => {
    const rows = await db
      .selectFrom("audit_entries")
      .select(["action", "user_id", "detail"])
      .where("organization_id", "=", DEMO_ID)
      .orderBy("at")
      .orderBy("action")
      .execute();
    assert.ok(rows.every(({ user_id: actor }) => actor === null));
    assert.deepEqual(
      rows.map(({ action, detail }) => [action, detail["name"]].filter(Boolean)),
      [
        ["organization.created", DEMO_NAME],
        ...DEMO_WIDGETS.map(({ name }) => ["widget.created", name]).reverse(),
        ["api_key.created", DEMO_KEY_NAME],
        ...DEMO_PEOPLE.map(() => ["member.added"]),
      ],
    );
  });

  test("lets its people sign in with the password that was shown", async () => {
    const { email, password } = await readCredentials(deps, deps.config);
    assert.equal(email, OWNER.email);
    for (const person of DEMO_PEOPLE)
      assert.ok(await deps.accounts.auth.signIn({ email: person.email, password, userAgent: "Firefox/1 Linux" }));
    assert.equal(await deps.accounts.auth.signIn({ email, password: "another password", userAgent: "x" }), null);
  });

  test("has other credentials under another secret key", async () => {
    const theirs = await readCredentials(deps, { ...deps.config, secretKey: SECRET_KEY.toUpperCase() });
    const { password } = await readCredentials(deps, deps.config);
    assert.notEqual(theirs.apiKey, apiKey);
    assert.notEqual(theirs.password, password);
  });

  test("is loaded only once", async () => {
    const { code, stderr } = await commandLine.runInside(["demo", "load"]);
    assert.equal(code, 2);
    assert.match(stderr, /^The demo is already loaded\. Run `demo clear` to delete it\.$/m);
    const { totals } = await ask(`/analytics?days=${DEMO_DAYS}`);
    assert.equal(totals.views, visits.length);
  });
});

describe("clearing the demo", () => {
  test("covers every table with an organization's rows", async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'organization_id'`.execute(db);
    assert.deepEqual(rows.map(({ name }) => name).sort(), [...ORGANIZATION_TABLES].sort());
  });

  test("deletes everything in it and nothing else, and then there is nothing to clear", async () => {
    assert.deepEqual(await commandLine.runInside(["demo", "clear", "--json"]), {
      code: 0,
      stdout: `${JSON.stringify({ id: DEMO_ID })}\n`,
      stderr: "",
    });
    assert.deepEqual(await readContents(), contents);
    const again = await commandLine.runInside(["demo", "clear"]);
    assert.deepEqual([again.code, again.stderr], [2, "The demo isn't loaded.\n"]);
  });

  test("keeps a demo person who joined another organization, whose address then prevents loading again", async () => {
    const { userId } = await signIn({ deps }, { role: "viewer", organizationId: other, email: OWNER.email });
    const refused = await commandLine.runInside(["demo", "load"]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, new RegExp(`needs the email address ${OWNER.email}`));
    await insertOrganization(db, { id: DEMO_ID, name: "x", plan: "free", time_zone: null, created_at: NOON });
    await insertMember(db, {
      organization_id: DEMO_ID,
      user_id: userId,
      role: "owner",
      created_at: NOON,
      last_used_at: null,
    });
    assert.equal((await commandLine.runInside(["demo", "clear"])).code, 0);
    const user = await db.selectFrom("users").select("email").where("id", "=", userId).executeTakeFirst();
    assert.equal(user?.email, OWNER.email);
  });
});
