import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AppWidget } from "#contract/app/widgets.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { askApp, readAudit } from "../../../test/support/app/app-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeOrganization, makeWidget, NOON } from "../../../test/support/builders.ts";
import { makeHit } from "../../../test/support/funnel/hits.ts";
import { recordHits } from "../analytics/record/record.ts";

const testApp = await createTestApp({ baseUrl: "https://book.example" });
const { app, deps } = testApp;
const member = await signIn(testApp, { role: "member" });

const make = async (body: object) => (await askApp(app, member, "POST /widgets", body)).body as AppWidget;

test("a new widget needs only a name, has Store bookings off, and comes with its snippet", async () => {
  const { status, body } = await askApp(app, member, "POST /widgets", { name: "  Front page " });
  const { id } = body as AppWidget;
  assert.match(id, /^w_/);
  assert.deepEqual(
    { status, body },
    {
      status: 201,
      body: {
        id,
        name: "Front page",
        businessName: "",
        template: "classic",
        status: "active",
        collectData: false,
        bookingUrl: null,
        pageUrl: `https://book.example/w/${id}`,
        accentColor: null,
        allowedDomains: [],
        connectionId: null,
        mode: "test",
        showsLogo: true,
        cornerRadius: null,
        fontFamily: null,
        language: null,
        hourCycle: null,
        locksTimeZone: false,
        buttonLabel: null,
        thankYouUrl: null,
        privacyUrl: null,
        offer: null,
        snippet: `<script async src="https://book.example/loader.js"></script>\n<svc-booking widget="${id}"></svc-booking>`,
        firstViewAt: null,
        lastViewAt: null,
        seenOn: null,
        createdAt: NOON.toISOString(),
      },
    },
  );
  assert.deepEqual(await askApp(app, member, `GET /widgets/${id}`), { status: 200, body });
});

test("a change affects only the fields it names", async () => {
  const made = await make({ name: "Front page", businessName: "Lindenhof" });
  const change = {
    template: "compact",
    status: "paused",
    collectData: true,
    bookingUrl: "https://scheduler.example/lindenhof",
    accentColor: "#4B45D6",
    allowedDomains: ["Example.com", "*.lindenhof.example", "example.com"],
    showsLogo: false,
    cornerRadius: 4,
    fontFamily: "Georgia",
    language: "de",
    hourCycle: "h23",
    locksTimeZone: true,
    buttonLabel: "Book a check-up",
    thankYouUrl: "https://lindenhof.example/thanks",
    privacyUrl: "https://lindenhof.example/privacy",
    offer: [{ serviceId: "consultation", staffIds: ["alex-kim"] }],
  };
  const { body } = await askApp(app, member, `PATCH /widgets/${made.id}`, change);
  assert.deepEqual(body, {
    ...made,
    ...change,
    accentColor: "#4b45d6",
    allowedDomains: ["example.com", "*.lindenhof.example"],
  });
  const back = {
    bookingUrl: null,
    accentColor: null,
    allowedDomains: [],
    showsLogo: true,
    cornerRadius: null,
    fontFamily: null,
    language: null,
    hourCycle: null,
    locksTimeZone: false,
    buttonLabel: null,
    thankYouUrl: null,
    privacyUrl: null,
    offer: null,
    template: "classic",
    status: "active",
    collectData: false,
  };
  assert.deepEqual((await askApp(app, member, `PATCH /widgets/${made.id}`, back)).body, made);
});

test("creating and changing a widget are logged with old and new values", async () => {
  const other = await signIn(testApp, { role: "member" });
  const { body } = await askApp(app, other, "POST /widgets", { name: "Front page" });
  const { id } = body as AppWidget;
  testApp.clock.set(new Date(NOON.getTime() + 1_000));
  await askApp(app, other, `PATCH /widgets/${id}`, { name: "Back page", collectData: true });
  testApp.clock.set(new Date(NOON.getTime() + 2_000));
  await askApp(app, other, `PATCH /widgets/${id}`, { collectData: true });
  testApp.clock.set(NOON);
  const entries = (await readAudit(deps.db, other.organizationId)) as { action: string }[];
  assert.deepEqual(
    entries.filter(({ action }) => action.startsWith("widget.")),
    [
      { action: "widget.created", target: id, detail: { name: "Front page" } },
      {
        action: "widget.changed",
        target: id,
        detail: {
          name: "Back page",
          formerName: "Front page",
          changed: "name, collectData",
          collectData: "off → on",
        },
      },
      { action: "widget.changed", target: id, detail: { name: "Back page", changed: "collectData" } },
    ],
  );
});

test("a widget shows its own first and last view", async () => {
  const elsewhere = await makeOrganization(deps.db, { timeZone: "Pacific/Auckland" });
  const person = await signIn(testApp, { role: "viewer", organizationId: elsewhere });
  const seen = await makeWidget(deps.db, elsewhere);
  const unseen = await makeWidget(deps.db, elsewhere);
  const busy = await makeWidget(deps.db, elsewhere);
  const instants = ["2026-10-01T11:30:00.000Z", "2026-10-01T12:30:00.000Z", "2026-10-07T10:00:00.000Z"];
  const hits = instants.map((at, visit) => makeHit({ widgetId: seen, visit, at, step: "widget_viewed" }));
  const others = ["2026-09-01T00:00:00.000Z", "2026-10-31T00:00:00.000Z"].map((at, i) =>
    makeHit({ widgetId: busy, visit: 10 + i, at, step: "widget_viewed" }),
  );
  await recordHits(deps.db, [...hits, ...others]);
  const { body } = await askApp(app, person, "GET /widgets");
  const views = (body as { data: AppWidget[] }).data.map(({ id, firstViewAt, lastViewAt }) => [
    id,
    firstViewAt,
    lastViewAt,
  ]);
  assert.deepEqual(
    new Set(views),
    new Set([
      [seen, instants[0], instants[2]],
      [unseen, null, null],
      [busy, "2026-09-01T00:00:00.000Z", "2026-10-31T00:00:00.000Z"],
    ]),
  );
});

test("a widget counts as installed once it is seen on a page that isn't ours", async () => {
  const organizationId = await makeOrganization(deps.db);
  const person = await signIn(testApp, { role: "viewer", organizationId });
  const widgetId = await makeWidget(deps.db, organizationId);
  const view = async (visit: number, page: string) => {
    await recordHits(deps.db, [{ ...makeHit({ widgetId, visit, at: NOON }), page }]);
    return ((await askApp(app, person, `GET /widgets/${widgetId}`)).body as AppWidget).seenOn;
  };
  assert.equal(await view(1, `${deps.config.baseUrl}/w/${widgetId}`), null);
  assert.equal(await view(2, ""), null);
  const page = `${deps.config.baseUrl}.au/contact`;
  assert.equal(await view(3, page), page, "a site whose name begins like ours");
  assert.equal(await view(4, `${deps.config.baseUrl}/w/${widgetId}`), page);
});

describe("faults are reported by field, and nothing is changed", () => {
  // biome-ignore format: one case a line
  const cases: [body: object, fields: string[]][] = [
    [{ name: "" }, ["name"]], [{ name: " " }, ["name"]], [{ name: "x".repeat(101) }, ["name"]], [{ name: "a\nb" }, ["name"]],
    [{ name: "a\u0000b" }, ["name"]], [{ name: 5 }, ["name"]], [{ template: "huge" }, ["template"]], [{ status: "gone" }, ["status"]],
    [{ collectData: "yes" }, ["collectData"]], [{ bookingUrl: "nowhere" }, ["bookingUrl"]], [{ bookingUrl: "javascript:alert(1)" }, ["bookingUrl"]],
    [{ bookingUrl: "https://a:b@example.com" }, ["bookingUrl"]], [{ accentColor: "red" }, ["accentColor"]],
    [{ allowedDomains: ["example.com", "x y"] }, ["allowedDomains"]], [{ allowedDomains: Array(51).fill("example.com") }, ["allowedDomains"]],
    [{ name: "", accentColor: "red" }, ["accentColor", "name"]], [{ cornerRadius: 25 }, ["cornerRadius"]], [{ fontFamily: "a;b" }, ["fontFamily"]],
    [{ language: "xx" }, ["language"]], [{ hourCycle: "h24" }, ["hourCycle"]], [{ thankYouUrl: "javascript:1" }, ["thankYouUrl"]],
    [{ privacyUrl: "x" }, ["privacyUrl"]], [{ offer: [{}] }, ["offer", "offer.0.serviceId", "offer.0.staffIds"]],
  ];
  for (const [change, fields] of cases)
    test(JSON.stringify(change).slice(0, 60), async () => {
      const made = await make({ name: "Front page" });
      const { status, body } = await askApp(app, member, `PATCH /widgets/${made.id}`, change);
      const { error } = body as { error: { code: string; fields: Record<string, string> } };
      assert.deepEqual([status, error.code, Object.keys(error.fields).sort()], [422, "invalid_fields", fields]);
      assert.deepEqual((await askApp(app, member, `GET /widgets/${made.id}`)).body, made);
    });

  test("a widget without a name is not created", async () => {
    const { status, body } = await askApp(app, member, "POST /widgets", { template: "compact" });
    assert.deepEqual(
      [status, (body as { error: { fields: object } }).error.fields],
      [422, { name: "This is required." }],
    );
  });
});

test("another organization's widget gives 404, like an unknown one", async () => {
  const theirs = await makeWidget(deps.db, await makeOrganization(deps.db));
  const responses = [];
  for (const id of [theirs, "w_111111111111", "nonsense"])
    responses.push(
      await askApp(app, member, `GET /widgets/${id}`),
      await askApp(app, member, `PATCH /widgets/${id}`, { name: "Mine" }),
    );
  for (const response of responses)
    assert.deepEqual(response, {
      status: 404,
      body: { error: { code: "not_found", message: "Widget not found." } },
    });
  const { body } = await askApp(app, member, "GET /widgets");
  assert.ok(!(body as { data: AppWidget[] }).data.some(({ id }) => id === theirs));
});
