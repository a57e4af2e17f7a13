import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { BROWSER_STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import {
  countViews,
  eventsBody,
  listEvents,
  postEvents,
  readOutcomes,
} from "../../../../test/support/funnel/collect.ts";
import { parseConfig } from "../../config.ts";
import type { Db } from "../../db/connections/pool.ts";
import { NEW_KEYS_PER_DAY } from "../record/key-cap.ts";
import { NETWORK_BUDGET_FACTOR, WIDGET_BUDGET_FACTOR } from "./collect.ts";

// What strangers can make us store.

/** The size of all funnel tables and their indexes, in bytes. */
async function measureTables(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(oid))::bigint as bytes from pg_class
    where relkind = 'r' and relname like 'funnel_%'`.execute(db);
  return rows[0]?.bytes ?? 0;
}

async function countRows(db: Db): Promise<number[]> {
  const counts: number[] = [];
  for (const table of ["funnel_visits", "funnel_keys", "visit_days"]) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
    counts.push(rows[0]?.count ?? 0);
  }
  return counts;
}

test("1,000 repeats of a visit's steps add no row and use up no key, even with different texts each time", async () => {
  const { app, deps, clock } = await createTestApp({ rateLimitEventsPerMinute: 0 });
  const widget = await makeWidget(deps.db, await makeOrganization(deps.db));
  const body = eventsBody({ events: BROWSER_STEPS.map((step) => ({ step })) });
  await postEvents(app, widget, body);
  const before = [await countRows(deps.db), await listEvents(deps.db)];
  clock.set(new Date(clock.now().getTime() + 1));
  for (let round = 0; round < 10; round++) {
    const posts = Array.from({ length: 100 }, (_, n) =>
      postEvents(app, widget, {
        ...body,
        page: `https://www.lindenhof.example/page-${round}-${n}`,
        attribution: { utmSource: `s${round}-${n}`, utmMedium: "cpc", utmCampaign: `c${round}-${n}` },
      }),
    );
    assert.ok((await Promise.all(posts)).every(({ status }) => status === 204));
  }
  assert.deepEqual([await countRows(deps.db), await listEvents(deps.db)], before);
  const fresh = eventsBody({
    page: "https://www.lindenhof.example/new",
    attribution: { utmSource: "new", utmMedium: "cpc", utmCampaign: "new" },
  });
  await postEvents(app, widget, fresh);
  const recorded = (await listEvents(deps.db)).find((row) => row.visit_id === fresh["visitId"]);
  assert.deepEqual(
    [recorded?.source, recorded?.campaign, recorded?.page],
    ["new", "new", "https://www.lindenhof.example/new"],
  );
});

test("a new visit with hostile texts costs at most 4 KB of tables and indexes", async () => {
  const { app, deps } = await createTestApp({
    rateLimitEventsPerMinute: 0,
    trustProxy: parseConfig({ TRUST_PROXY: "127.0.0.1" }).trustProxy,
  });
  const widget = await makeWidget(deps.db, await makeOrganization(deps.db));
  const visits = 900;
  // Random letters, which don't compress, at four bytes each where allowed.
  const letters = (count: number) => String.fromCodePoint(...[...randomBytes(count)].map((byte) => 0x1f300 + byte));
  const words = (count: number) =>
    randomBytes(count)
      .toString("hex")
      .replace(/[0-9]/g, "x")
      .replace(/(.{8})/g, "$1/");
  const before = await measureTables(deps.db);
  for (let first = 0; first < visits; first += NEW_KEYS_PER_DAY.perNetwork) {
    const body = () => ({
      visitId: randomUUID(),
      page: `https://www.lindenhof.example/${words(500)}`,
      attribution: { utmSource: letters(300), utmMedium: letters(300), utmCampaign: letters(300) },
      events: BROWSER_STEPS.map((step) => ({ step })),
    });
    const posts = Array.from({ length: NEW_KEYS_PER_DAY.perNetwork }, () =>
      postEvents(app, widget, body(), { "x-forwarded-for": `203.0.113.${first / NEW_KEYS_PER_DAY.perNetwork}` }),
    );
    await Promise.all(posts);
  }
  assert.equal(await countViews(deps.db), visits);
  const each = ((await measureTables(deps.db)) - before) / visits;
  assert.ok(each <= 4_096, `${each} bytes`);
});

test("over an address's daily budget new visits are dropped and counted; known ones continue", async () => {
  const perMinute = 4;
  const budget = perMinute * NETWORK_BUDGET_FACTOR;
  const { app, deps, clock } = await createTestApp({
    rateLimitEventsPerMinute: perMinute,
    trustProxy: parseConfig({ TRUST_PROXY: "127.0.0.1" }).trustProxy,
  });
  const [widget, other] = [
    await makeWidget(deps.db, await makeOrganization(deps.db)),
    await makeWidget(deps.db, await makeOrganization(deps.db)),
  ];
  const post = async (id: string, body: unknown, address: string) => {
    // The limit per minute is tested elsewhere.
    clock.set(new Date(clock.now().getTime() + MINUTE_MS));
    return (await postEvents(app, id, body, { "x-forwarded-for": address })).status;
  };
  const first = eventsBody();
  await post(widget, first, "203.0.113.7");
  for (let n = 1; n < budget + 5; n++) assert.equal(await post(widget, eventsBody(), "203.0.113.7"), 204);
  assert.equal(await countViews(deps.db), budget);
  const outcomes = await readOutcomes(app);
  assert.deepEqual([outcomes["recorded"], outcomes["over_budget"]], [budget, 5]);
  const { rows } = await sql<{ widget_id: string; events: number }>`
    select widget_id, sum(events)::integer as events from funnel_drops group by widget_id`.execute(deps.db);
  assert.deepEqual(rows, [{ widget_id: widget, events: 5 }]);

  await post(widget, { ...first, events: [{ step: "service_selected" }] }, "203.0.113.7");
  const steps = (await listEvents(deps.db)).filter((row) => row.visit_id === first["visitId"]).map((row) => row.step);
  assert.deepEqual(steps, ["widget_viewed", "service_selected"]);

  await post(widget, eventsBody(), "203.0.113.8");
  await post(other, eventsBody(), "203.0.113.7");
  assert.equal(await countViews(deps.db), budget + 2);
  clock.set(new Date(clock.now().getTime() + DAY_MS));
  await post(widget, eventsBody(), "203.0.113.7");
  assert.equal(await countViews(deps.db), budget + 3);
});

test("beyond the daily budget of a widget, new visits from any address are dropped; other widgets are not affected", async () => {
  const perMinute = 1;
  const budget = perMinute * WIDGET_BUDGET_FACTOR;
  const { app, deps, clock } = await createTestApp({
    rateLimitEventsPerMinute: perMinute,
    trustProxy: parseConfig({ TRUST_PROXY: "127.0.0.1" }).trustProxy,
  });
  const owner = await makeOrganization(deps.db);
  const [widget, other] = [await makeWidget(deps.db, owner), await makeWidget(deps.db, owner)];
  const post = async (id: string, address: string) => {
    clock.set(new Date(clock.now().getTime() + MINUTE_MS));
    assert.equal((await postEvents(app, id, eventsBody(), { "x-forwarded-for": address })).status, 204);
  };
  const networks = budget / NETWORK_BUDGET_FACTOR;
  for (let n = 0; n < budget; n++) await post(widget, `203.0.113.${n % networks}`);
  assert.equal(await countViews(deps.db), budget);
  await post(widget, "198.51.100.1");
  await post(widget, "198.51.100.2");
  assert.equal(await countViews(deps.db), budget);
  assert.equal((await readOutcomes(app))["over_budget"], 2);
  await post(other, "198.51.100.1");
  assert.equal(await countViews(deps.db), budget + 1);
  clock.set(new Date(clock.now().getTime() + DAY_MS));
  await post(widget, "198.51.100.1");
  assert.equal(await countViews(deps.db), budget + 2);
});

test("a thousand invented tags from one client affect no one else, and bookings always keep their source", async () => {
  const { app, deps, clock } = await createTestApp({
    rateLimitEventsPerMinute: 0,
    trustProxy: parseConfig({ TRUST_PROXY: "127.0.0.1" }).trustProxy,
  });
  const owner = await makeOrganization(deps.db);
  const [widget, sibling] = [await makeWidget(deps.db, owner), await makeWidget(deps.db, owner)];
  const tagged = (tag: string) => ({ utmSource: tag, utmMedium: "cpc", utmCampaign: tag });
  const post = async (id: string, tag: string, { address = "203.0.113.7", visitId = randomUUID() as string } = {}) => {
    const page = `https://www.lindenhof.example/${tag}`;
    const body = eventsBody({ visitId, page, attribution: tagged(tag) });
    assert.equal((await postEvents(app, id, body, { "x-forwarded-for": address })).status, 204);
    return visitId;
  };
  const readVisit = async (visitId: string) => {
    const event = (await listEvents(deps.db)).find((each) => each.visit_id === visitId);
    return [event?.source, event?.campaign, event?.page];
  };
  const named = (tag: string) => [tag, tag, `https://www.lindenhof.example/${tag}`];

  await post(widget, "newsletter", { address: "198.51.100.1" });
  clock.set(new Date(clock.now().getTime() + DAY_MS));
  for (let n = 0; n < 1_050; n += 50)
    await Promise.all(Array.from({ length: 50 }, (_, i) => post(widget, `invented-${n + i}`)));
  const invented = new Set((await listEvents(deps.db)).map(({ source }) => source));
  assert.equal(invented.size, NEW_KEYS_PER_DAY.perNetwork + 2, "its share, (other) and yesterday's newsletter");

  assert.deepEqual(await readVisit(await post(widget, "newsletter")), named("newsletter"), "seen on an earlier day");
  const elsewhere = { address: "198.51.100.2" };
  assert.deepEqual(
    await readVisit(await post(widget, "autumn-sale", elsewhere)),
    named("autumn-sale"),
    "another network",
  );
  assert.deepEqual(await readVisit(await post(sibling, "spring-sale")), named("spring-sale"), "another widget");

  const refused = await post(widget, "radio");
  assert.deepEqual(await readVisit(refused), ["(other)", "(other)", "(other)"]);
  const booking = { visitId: refused, page: "https://www.lindenhof.example/radio", attribution: tagged("radio") };
  assert.equal((await book(app, widget, { ...booking, start: "2026-11-03T03:00:00.000Z" })).statusCode, 409);
  assert.deepEqual(await readVisit(refused), ["(other)", "(other)", "(other)"], "a failed attempt adds nothing");
  assert.equal((await book(app, widget, booking)).statusCode, 201);
  assert.deepEqual(await readVisit(refused), named("radio"), "booked");
  assert.deepEqual(await readVisit(await post(widget, "radio")), named("radio"), "after the booking");
});

async function book(app: FastifyInstance, widgetId: string, body: object) {
  const { services } = (await app.inject(`/embed-api/${widgetId}/config`)).json();
  const url = `/embed-api/${widgetId}/slots?service=${services[0].id}&from=2026-11-01&to=2026-11-15`;
  const { slots } = (await app.inject(url)).json();
  const questions: { id: string; options?: string[] }[] = services[0].questions;
  return await app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": randomUUID() },
    payload: JSON.stringify({
      serviceId: services[0].id,
      start: slots[0].start,
      answers: questions.map(({ id, options }) => ({ questionId: id, answer: options?.[0] ?? "an answer" })),
      timeZone: "Europe/Berlin",
      customer: { name: "Mara Quell", email: "mara@example.com", phone: "", notes: "" },
      ...body,
    }),
  });
}
