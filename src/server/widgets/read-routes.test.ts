import assert from "node:assert/strict";
import { test } from "node:test";
import type { WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../test/support/app/app.ts";
import { getJson, makeCaller } from "../../../test/support/app/read-api.ts";
import { makeKey, makeOrganization, makeWidget, updateWidget } from "../../../test/support/builders.ts";
import { insertWidget } from "./queries.ts";

const { app, deps } = await createTestApp({ baseUrl: "https://book.example" });

async function makeReader() {
  const owner = await makeOrganization(deps.db);
  const { key } = await makeKey(deps.db, owner);
  return { owner, headers: { authorization: `Bearer ${key}` } };
}

test("a widget is returned with every field of the contract and no other", async () => {
  const { owner, headers } = await makeReader();
  await insertWidget(deps.db, {
    id: "w_4fTqD8sKmB2x" as WidgetId,
    organization_id: owner,
    name: "Front page",
    business_name: "Lindenhof Dental",
    booking_url: "https://scheduler.example/lindenhof",
    template: "compact",
    status: "paused",
    collect_data: false,
    created_at: new Date("2026-10-31T23:59:59.999Z"),
  });
  assert.deepEqual(await getJson(app, "/api/v1/widgets", headers), {
    status: 200,
    body: {
      data: [
        {
          id: "w_4fTqD8sKmB2x",
          name: "Front page",
          bookingUrl: "https://scheduler.example/lindenhof",
          template: "compact",
          status: "paused",
          collectData: false,
          businessName: "Lindenhof Dental",
          createdAt: "2026-10-31T23:59:59.999Z",
        },
      ],
    },
  });
});

test("a widget without a booking URL links to Bookflow's own booking page", async () => {
  const { owner, headers } = await makeReader();
  const id = await makeWidget(deps.db, owner);
  const { body } = await getJson(app, "/api/v1/widgets", headers);
  assert.deepEqual(body, {
    data: [
      {
        id,
        name: "Website",
        bookingUrl: `https://book.example/w/${id}`,
        template: "classic",
        status: "active",
        collectData: true,
        businessName: "Lindenhof",
        createdAt: "2026-11-01T12:00:00.000Z",
      },
    ],
  });
});

test("a widget without a business name has the organization's, which is what visitors see", async () => {
  const { owner, headers } = await makeReader();
  const id = await makeWidget(deps.db, owner);
  await updateWidget(deps.db, id, { business_name: "" });
  const { body } = await getJson(app, "/api/v1/widgets", headers);
  const seen = await app.inject(`/embed-api/${id}/config`);
  assert.deepEqual(
    [(body as { data: { businessName: string }[] }).data.map(({ businessName }) => businessName), seen.statusCode],
    [[seen.json().widget.businessName], 200],
  );
  assert.notEqual(seen.json().widget.businessName, "");
});

test("names keep every character they were given", async () => {
  const { owner, headers } = await makeReader();
  const names = [
    '"Quoted" \\ back',
    "Zahnärzte & Söhne",
    "日本語 😀",
    "line\nbreak\ttab",
    "</script>",
    "\u2028\u0001",
    "",
  ];
  for (const [i, name] of names.entries())
    await makeWidget(deps.db, owner, { name, createdAt: new Date(Date.UTC(2026, 0, 1 + i)) });
  const { body } = await getJson(app, "/api/v1/widgets", headers);
  assert.deepEqual((body as { data: { name: string }[] }).data.map((widget) => widget.name).reverse(), names);
});

test("an organization without widgets gets an empty list", async () => {
  const { headers } = await makeReader();
  assert.deepEqual(await getJson(app, "/api/v1/widgets", headers), { status: 200, body: { data: [] } });
});

async function listIds(headers: Record<string, string>, query = ""): Promise<string[]> {
  const { body } = await getJson(app, `/api/v1/widgets${query}`, headers);
  return (body as { data: { id: string }[] }).data.map((widget) => widget.id);
}

test("widgets come newest first, ties by id, including paused ones and those with Store bookings off", async () => {
  const { owner, headers } = await makeReader();
  const old = await makeWidget(deps.db, owner, { createdAt: new Date("2025-01-01T00:00:00.000Z"), status: "paused" });
  const tied = await Promise.all(
    Array.from({ length: 12 }, (_, i) => makeWidget(deps.db, owner, { collectData: i % 2 === 0 })),
  );
  const newest = await makeWidget(deps.db, owner, { createdAt: new Date("2026-11-01T12:00:00.001Z") });
  assert.deepEqual(await listIds(headers), [newest, ...tied.sort(), old]);
});

test("all widgets come in one response, however many there are", async () => {
  const { owner, headers } = await makeReader();
  const ids: WidgetId[] = [];
  while (ids.length < 600) ids.push(await makeWidget(deps.db, owner));
  assert.deepEqual(await listIds(headers), ids.sort());
});

test("the next request sees a changed widget", async () => {
  const { widgetId, headers } = await makeCaller(deps.db);
  await updateWidget(deps.db, widgetId, { status: "paused", collect_data: false });
  const { body } = await getJson(app, "/api/v1/widgets", headers);
  const [widget] = (body as { data: { status: string; collectData: boolean }[] }).data;
  assert.deepEqual([widget?.status, widget?.collectData], ["paused", false]);
});

test("another organization's widgets are not returned", async () => {
  const mine = await makeCaller(deps.db);
  const theirs = await makeCaller(deps.db);
  assert.deepEqual(await listIds(mine.headers), [mine.widgetId]);
  assert.deepEqual(await listIds(theirs.headers), [theirs.widgetId]);
});

test("query parameters are ignored, repeated or not", async () => {
  const { widgetId, headers } = await makeCaller(deps.db);
  for (const query of [
    "?limit=0",
    "?limit=x&limit=y",
    "?since=never",
    "?cursor=",
    "?widget=w_none",
    "?status=paused",
    "?%zz=%",
    "?&&=&",
    "??",
  ]) {
    assert.deepEqual(await listIds(headers, query), [widgetId], query);
  }
});
