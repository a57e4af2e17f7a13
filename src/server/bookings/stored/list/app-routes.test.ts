import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BookingDetail, BookingSummary } from "#contract/app/bookings.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { askApp, readAudit } from "../../../../../test/support/app/app-api.ts";
import { signIn } from "../../../../../test/support/app/sign-in.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../../test/support/database/search-database.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeEndpoint,
  startReplying,
} from "../../../../../test/support/webhooks/webhook-service.ts";

const service = await createWebhookService();
const { app, deps } = service;
const { db } = deps;

const PERSON = {
  customer_name: "Mara Quell",
  customer_email: "mara.quell@example.com",
  customer_phone: "+49 30 5550100",
  customer_notes: "Please call, when late",
  answers: JSON.stringify([{ questionId: "q1", question: "First visit?", answer: '=cmd|"x"' }]),
  attribution: JSON.stringify({
    source: "google",
    medium: "cpc",
    campaign: "autumn",
    channel: "Paid Search",
    landingPage: "https://lindenhof.example/?email=mara.quell@example.com",
    gclid: "Cj0",
    touches: 2,
  }),
  external_id: "ext-1",
  manage_url: "https://scheduler.example/manage/1",
  join_url: "https://meet.example/1",
};

type Business = { owner: OrganizationId; widgetId: WidgetId };

async function makeBusiness(plan: "free" | "pro" | "business" = "business"): Promise<Business> {
  const owner = await makeOrganization(db, { plan });
  return { owner, widgetId: await makeWidget(db, owner, { name: "Front page" }) };
}

const as = async (role: "owner" | "admin" | "member" | "viewer", { owner }: Business) =>
  await signIn(service, { role, organizationId: owner });

type Page = { data: BookingSummary[]; nextCursor: string | null };

test("a booking is listed and shown with every field", async () => {
  const business = await makeBusiness();
  const member = await as("member", business);
  const { reference } = await makeBooking(db, business.owner, { widgetId: business.widgetId, ...PERSON });
  const shared = {
    reference,
    status: "confirmed",
    mode: "live",
    createdAt: NOON.toISOString(),
    start: "2026-11-05T09:00:00.000Z",
    end: "2026-11-05T09:30:00.000Z",
    timeZone: "Europe/Berlin",
    widget: { id: business.widgetId, name: "Front page" },
    service: { id: "svc-1", name: "Check-up" },
    staff: ["Dr. Ada Winter"],
  };
  const classified = { source: "google", medium: "cpc", campaign: "autumn", channel: "Paid Search" };
  assert.deepEqual(await askApp(app, member, "GET /bookings"), {
    status: 200,
    body: {
      data: [{ ...shared, customer: { name: "Mara Quell", email: "mara.quell@example.com" }, attribution: classified }],
      nextCursor: null,
    },
  });
  assert.deepEqual(await askApp(app, member, `GET /bookings/${reference}`), {
    status: 200,
    body: {
      ...shared,
      customer: {
        name: PERSON.customer_name,
        email: PERSON.customer_email,
        phone: PERSON.customer_phone,
        notes: PERSON.customer_notes,
      },
      answers: JSON.parse(PERSON.answers),
      attribution: JSON.parse(PERSON.attribution),
      externalId: "ext-1",
      manageUrl: PERSON.manage_url,
      joinUrl: PERSON.join_url,
      changes: [],
      deliveries: [],
    },
  });
});

describe("a viewer sees nothing about customers", () => {
  test("in the list, in a booking or in search results", async () => {
    const business = await makeBusiness();
    const viewer = await as("viewer", business);
    const { reference } = await makeBooking(db, business.owner, { widgetId: business.widgetId, ...PERSON });
    const list = await askApp(app, viewer, "GET /bookings");
    const detail = await askApp(app, viewer, `GET /bookings/${reference}`);
    for (const text of [
      "Mara",
      "example.com",
      "5550100",
      "call",
      "First visit",
      "Cj0",
      "scheduler.example",
      "meet.",
      "ext-1",
    ])
      assert.ok(!JSON.stringify([list, detail]).includes(text), text);
    const { customer, answers: responses, attribution } = detail.body as BookingDetail;
    assert.deepEqual([customer, responses], [null, null]);
    assert.deepEqual(attribution, { source: "google", medium: "cpc", campaign: "autumn", channel: "Paid Search" });
    const count = async (search: string) =>
      ((await askApp(app, viewer, `GET /bookings?search=${search}`)).body as Page).data.length;
    assert.deepEqual(
      [await count("mara"), await count("quell%40"), await count("check"), await count("autu")],
      [0, 0, 1, 1],
    );
    assert.deepEqual(await count(reference.toLowerCase()), 1);
  });
});

test("pages follow without gaps, even with a search, a widget and a period", async () => {
  const business = await makeBusiness();
  const other = await makeWidget(db, business.owner);
  const member = await as("member", business);
  for (let i = 0; i < 30; i++)
    await makeBooking(db, business.owner, {
      widgetId: i % 3 === 0 ? other : business.widgetId,
      customer_name: i % 2 === 0 ? `Mara ${i}` : `Emil ${i}`,
      customer_email: "someone@example.com",
      now: new Date(NOON.getTime() - (30 - i) * 7 * DAY_MS),
    });
  const follow = async (query: string): Promise<string[]> => {
    const names: string[] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await askApp(app, member, `GET /bookings?limit=4${query}${cursor}`);
      assert.equal(status, 200);
      const page = body as Page;
      names.push(...page.data.map(({ customer }) => customer?.name ?? ""));
      if (page.nextCursor === null) return names;
      assert.equal(page.data.length, 4);
      cursor = `&cursor=${page.nextCursor}`;
    }
  };
  const all = Array.from({ length: 30 }, (_, i) => 29 - i);
  const name = (i: number) => (i % 2 === 0 ? `Mara ${i}` : `Emil ${i}`);
  assert.deepEqual(await follow(""), all.map(name));
  assert.deepEqual(await follow("&search=MARA"), all.filter((i) => i % 2 === 0).map(name));
  assert.deepEqual(await follow(`&search=mara&widget=${other}`), all.filter((i) => i % 6 === 0).map(name));
  const instant = (i: number) => new Date(NOON.getTime() - (30 - i) * 7 * DAY_MS).toISOString();
  const some = all.filter((i) => i >= 3 && i < 17);
  assert.deepEqual(await follow(`&from=${instant(3)}&to=${instant(17)}`), some.map(name));
  assert.deepEqual(
    await follow(`&search=emil&from=${instant(3)}&to=${instant(17)}`),
    some.filter((i) => i % 2 === 1).map(name),
  );
});

test("an expired booking is not listed, found, shown or exported", async () => {
  const business = await makeBusiness("pro");
  const admin = await as("admin", business);
  const old = new Date("2025-11-01T11:59:59.999Z");
  const { reference } = await makeBooking(db, business.owner, {
    widgetId: business.widgetId,
    now: old,
    customer_name: "Old",
  });
  await makeBooking(db, business.owner, {
    widgetId: business.widgetId,
    now: new Date(old.getTime() + 1),
    customer_name: "Olds",
  });
  for (const query of ["", "?search=old", "?from=2020-01-01", "?search=old&from=2020-01-01"]) {
    const { body } = await askApp(app, admin, `GET /bookings${query}`);
    assert.deepEqual(
      (body as Page).data.map(({ customer }) => customer?.name),
      ["Olds"],
      query,
    );
  }
  assert.equal((await askApp(app, admin, `GET /bookings/${reference}`)).status, 404);
  const csv = String((await askApp(app, admin, "GET /bookings.csv")).body);
  assert.equal(csv.split("\r\n").length, 3);
});

test("invalid parameters are refused with a clear message", async () => {
  const business = await makeBusiness();
  const member = await as("member", business);
  const theirs = (await makeBusiness()).widgetId;
  // biome-ignore format: one case a line
  const cases: [query: string, status: number][] = [
    ["limit=0", 400], ["limit=x", 400], ["from=never", 400], ["to=2026-13-01", 400], ["cursor=1", 400], ["search=a&search=b", 400],
    [`search=${"x".repeat(201)}`, 400], [`widget=${theirs}`, 404], ["widget=x", 404], ["search=%00", 200], ["search=%20", 200],
    ["search=%F0%9F%98%80", 200], ["search='", 200], ["search=%5C", 200], ["search=%25", 200], ["search=*%3A%26%7C!", 200],
  ];
  for (const [query, status] of cases)
    assert.equal((await askApp(app, member, `GET /bookings?${query}`)).status, status, query);
});

test("a booking is deleted with its webhook data; deleting it again gives 404", async () => {
  const business = { ...(await makeBusiness()), plan: "business" as const };
  const member = await as("member", business);
  const receiver = await startReplying(({ body }) => ({ body: body.toString() }));
  await makeEndpoint(deps, business, { url: receiver.url });
  const reference = await book(deps, business, {
    customer_name: "Zacharias Only",
    customer_email: "zacharias@example.com",
  });
  const kept = await book(deps, business);
  await deliverAll(service.loop);
  const before = (await askApp(app, member, `GET /bookings/${reference}`)).body as BookingDetail;
  assert.deepEqual(
    before.deliveries.map(({ state, lastStatus }) => [state, lastStatus]),
    [["delivered", 200]],
  );

  assert.deepEqual(await askApp(app, member, `DELETE /bookings/${reference}`), { status: 204, body: null });
  assert.equal((await askApp(app, member, `DELETE /bookings/${reference}`)).status, 404);
  assert.equal((await askApp(app, member, `GET /bookings/${reference}`)).status, 404);
  assert.equal((await askApp(app, member, `GET /bookings/${kept}`)).status, 200);
  assert.deepEqual(await findEverywhere(db, "Zacharias"), []);
  assert.deepEqual(await readAudit(db, business.owner), [{ action: "booking.deleted", target: reference, detail: {} }]);
});

test("erasing by email counts first, ignores letter case and leaves no trace of the address", async () => {
  const business = { ...(await makeBusiness()), plan: "business" as const };
  const admin = await as("admin", business);
  const receiver = await startReplying(({ body }) => ({ body: body.toString() }));
  await makeEndpoint(deps, business, { url: receiver.url });
  for (const customer_email of ["Gone.Person@Example.com", " gone.person@example.com", "kept.person@example.com"])
    await book(deps, business, { customer_email });
  await deliverAll(service.loop);
  const erase = async (body: object) => await askApp(app, admin, "POST /bookings/erase", body);
  const email = "GONE.person@example.COM";
  assert.deepEqual(await erase({ email, dryRun: true }), { status: 200, body: { count: 2, isErased: false } });
  assert.deepEqual(await erase({ email }), { status: 200, body: { count: 2, isErased: true } });
  assert.deepEqual(await erase({ email }), { status: 200, body: { count: 0, isErased: true } });
  for (const text of ["gone.person", "Gone.Person", "GONE"]) assert.deepEqual(await findEverywhere(db, text), [], text);
  const list = async (query: string) => ((await askApp(app, admin, `GET /bookings${query}`)).body as Page).data.length;
  assert.deepEqual([await list(""), await list("?search=gone"), await list("?search=kept")], [1, 0, 1]);
  assert.ok(
    !String((await askApp(app, admin, "GET /bookings.csv")).body)
      .toLowerCase()
      .includes("gone"),
  );
  const entries = (await readAudit(db, business.owner)) as { action: string; detail: object }[];
  assert.deepEqual(entries.map(({ action }) => action).sort(), [
    "bookings.erased",
    "bookings.erased",
    "bookings.exported",
  ]);
  assert.ok(!JSON.stringify(entries).toLowerCase().includes("example"));
  for (const body of [{ email: " " }, { email: 5 }, {}, { email: "a\u0000b" }, { email, dryRun: "yes" }])
    assert.equal((await erase(body)).status, 422, JSON.stringify(body));
});

describe("the CSV export", () => {
  test("has every field, contains no formulas, and is logged without the search text", async () => {
    const business = await makeBusiness("pro");
    const admin = await as("admin", business);
    const { reference } = await makeBooking(db, business.owner, { widgetId: business.widgetId, ...PERSON });
    const response = await app.inject({ url: "/api/app/bookings.csv?search=mara", headers: admin.headers });
    assert.equal(response.headers["content-type"], "text/csv; charset=utf-8");
    assert.equal(response.headers["content-disposition"], 'attachment; filename="bookings-2026-11-01.csv"');
    assert.equal(response.headers["cache-control"], "no-store");
    assert.deepEqual(response.rawPayload.subarray(0, 3), Buffer.from([0xef, 0xbb, 0xbf]));
    const [head = "", line = "", ...rest] = response.body.slice(1).split("\r\n");
    assert.deepEqual(rest, [""]);
    assert.deepEqual(head.split(",").slice(11, 21), [
      "customerName",
      "customerEmail",
      "customerPhone",
      "customerNotes",
      "answers",
      "answersJson",
      "source",
      "medium",
      "campaign",
      "channel",
    ]);
    assert.ok(line.startsWith(`${reference},confirmed,2026-11-01T12:00:00.000Z,2026-11-05T09:00:00.000Z,`));
    assert.ok(
      line.includes(
        `,Mara Quell,mara.quell@example.com,'+49 30 5550100,"Please call, when late","First visit?: =cmd|""x""",`,
      ),
    );
    assert.ok(
      line.includes(",google,cpc,autumn,Paid Search,,https://lindenhof.example/?email=mara.quell@example.com,"),
    );
    assert.deepEqual(await readAudit(db, business.owner), [
      { action: "bookings.exported", target: null, detail: { isSearch: "yes" } },
    ]);
  });

  test("has a dry run that is refused like the file and leaves no log entry", async () => {
    const business = await makeBusiness("pro");
    const [admin, member] = [await as("admin", business), await as("member", business)];
    const route = "GET /bookings.csv?dryRun=true";
    assert.deepEqual(await askApp(app, admin, route), { status: 204, body: null });
    assert.equal((await askApp(app, member, route)).status, 403);
    assert.equal((await askApp(app, admin, `${route}&from=never`)).status, 400);
    assert.deepEqual(await readAudit(db, business.owner), []);
  });

  test("works from a link that names its organization, but not from another site", async () => {
    const [business, later] = [await makeBusiness("pro"), await makeBusiness("free")];
    const { "x-organization": owner, ...headers } = (await as("admin", business)).headers;
    await makeBooking(db, business.owner, { widgetId: business.widgetId, ...PERSON });
    const get = async (organization: string, from = "same-origin") =>
      await app.inject({
        url: `/api/app/bookings.csv?organization=${organization}`,
        headers: { ...headers, "sec-fetch-site": from },
      });
    assert.match((await get(owner)).body, /Mara Quell/);
    assert.equal((await get(later.owner)).statusCode, 404);
    for (const from of ["cross-site", "same-site"]) assert.equal((await get(owner, from)).statusCode, 403, from);
    assert.equal((await readAudit(db, business.owner)).length, 1);
  });

  test("has each matching booking once, over many pages", async () => {
    const business = await makeBusiness();
    const admin = await as("admin", business);
    const other = await makeWidget(db, business.owner);
    await db.transaction().execute(async (transaction) => {
      for (let i = 0; i < 1_203; i++)
        await makeOne(transaction, business.owner, { widgetId: i % 3 === 0 ? other : business.widgetId, number: i });
    });
    const lines = async (query: string) =>
      String((await askApp(app, admin, `GET /bookings.csv${query}`)).body)
        .split("\r\n")
        .slice(1, -1);
    const all = await lines("");
    assert.deepEqual([all.length, new Set(all.map((line) => line.slice(0, 10))).size], [1_203, 1_203]);
    assert.equal((await lines(`?widget=${other}`)).length, 401);
    assert.equal((await lines("?search=person%2012")).length, 1 + 10 + 3);
    assert.deepEqual(await lines("?search=nobody"), []);
    // All appointments start at once. So frequent a text is not sorted in memory.
    const references = all.map((line) => line.slice(0, 10)).sort();
    const listed = async (query: string) => (await lines(query)).map((line) => line.slice(0, 10));
    assert.deepEqual(await listed("?search=person&sort=soonest"), references);
    assert.deepEqual(await listed("?search=person&sort=latest"), references.toReversed());
  });

  test("is cut off when a booking cannot be written, and the log says so without its content", async () => {
    const business = await makeBusiness();
    const admin = await as("admin", business);
    // Its staff can't be read as a list of names.
    await makeBooking(db, business.owner, { widgetId: business.widgetId, ...PERSON });
    await db.updateTable("bookings").set({ staff: "5" }).where("organization_id", "=", business.owner).execute();
    const address = await app.listen({ host: "127.0.0.1", port: 0 });
    const response = await fetch(`${address}/api/app/bookings.csv`, { headers: admin.headers });
    await assert.rejects(response.text());
    const line = service.lines.findLast((each) => each.includes("export.failed")) ?? "";
    assert.ok(line.includes(business.owner) && !/mara|quell/i.test(line), line);
  });

  test("requires the Pro or Business plan", async () => {
    const admin = await as("admin", await makeBusiness("free"));
    assert.deepEqual(await askApp(app, admin, "GET /bookings.csv"), {
      status: 403,
      body: {
        error: {
          code: "plan_required",
          message: "CSV export requires the Pro or Business plan. Ask the operator to change the plan.",
        },
      },
    });
  });

  test("is not created for HEAD, which would be logged as an export", async () => {
    const business = await makeBusiness();
    const admin = await as("admin", business);
    assert.equal((await askApp(app, admin, "HEAD /bookings.csv")).status, 405);
    assert.deepEqual(await readAudit(db, business.owner), []);
  });
});

async function makeOne(transaction: typeof db, owner: OrganizationId, fields: { widgetId: WidgetId; number: number }) {
  const digits = fields.number
    .toString(8)
    .padStart(6, "0")
    .replaceAll(/\d/g, (digit) => "23456789".charAt(Number(digit)));
  await transaction
    .insertInto("bookings")
    .values({
      organization_id: owner,
      reference: `SVC-${digits}` as never,
      widget_id: fields.widgetId,
      status: "confirmed",
      created_at: new Date(NOON.getTime() - fields.number * 60 * MINUTE_MS),
      start_at: NOON,
      end_at: NOON,
      time_zone: "UTC",
      service_id: "svc-1",
      service_name: "Check-up",
      staff: "[]",
      customer_name: `Person ${fields.number}.`,
      customer_email: "person@example.com",
      answers: "[]",
      attribution: "{}",
      api_json: "{}",
    })
    .execute();
}
