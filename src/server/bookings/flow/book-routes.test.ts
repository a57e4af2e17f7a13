import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeKey, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../test/support/database/search-database.ts";
import { DIRECT_HIT } from "../../../../test/support/funnel/hits.ts";
import { eraseBookingsByEmail } from "../stored/erase/erase.ts";
import { insertPending } from "./pending-queries.ts";
import { takeReference } from "./reference.ts";
import { settleOverdue } from "./settle-overdue.ts";

const { app, deps, clock, lines } = await createTestApp({
  rateLimitBookingsPerMinute: 0,
  rateLimitWidgetBookingsPerMinute: 0,
});

const SIGNAL = new AbortController().signal;
const { visitId: VISIT } = DIRECT_HIT;

type Setting = { owner: OrganizationId; widgetId: WidgetId; key: string };

async function makeSetting(options: { collectData: boolean }): Promise<Setting> {
  const owner = await makeOrganization(deps.db, { timeZone: "Europe/Berlin" });
  const widgetId = await makeWidget(deps.db, owner, options);
  return { owner, widgetId, key: (await makeKey(deps.db, owner)).key };
}

async function findSlot(widgetId: string, on = app): Promise<{ serviceId: string; start: string; answers: object[] }> {
  const config = (await on.inject(`/embed-api/${widgetId}/config`)).json();
  const service = config.services[0];
  const url = `/embed-api/${widgetId}/slots?service=${service.id}&from=2026-11-01&to=2026-11-15`;
  const { slots } = (await on.inject(url)).json();
  const answers = service.questions.map((question: { id: string; options?: string[] }) => ({
    questionId: question.id,
    answer: question.options?.[0] ?? "an answer",
  }));
  return { serviceId: service.id, start: slots[0].start, answers };
}

function book(widgetId: string, body: object, idempotencyKey: string) {
  return app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
    payload: JSON.stringify(body),
  });
}

function toBody(slot: { serviceId: string; start: string; answers: object[] }, change: object = {}) {
  return {
    visitId: VISIT,
    page: "https://lindenhof.example/book?utm_source=google",
    ...slot,
    timeZone: "Europe/Berlin",
    customer: { name: "Mara Quell", email: "mara@example.com", phone: "", notes: "Second floor" },
    attribution: { utmSource: "google", utmMedium: "cpc", utmCampaign: "autumn", gclid: "Cj0KCQiA-marker", touches: 2 },
    ...change,
  };
}

async function read(path: string, key: string) {
  return (await app.inject({ url: path, headers: { authorization: `Bearer ${key}` } })).json();
}

test("a confirmed booking is returned to the visitor, stored, counted and listed by the read API", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);

  const response = await book(widgetId, toBody(slot), "key-1");

  assert.equal(response.statusCode, 201, response.body);
  const booked = response.json();
  assert.match(booked.reference, /^SVC-[2-9A-HJ-NP-Z]{6}$/);
  assert.equal(booked.start, slot.start);
  const { data } = await read("/api/v1/bookings", key);
  assert.equal(data.length, 1);
  assert.deepEqual(data[0].customer, {
    name: "Mara Quell",
    email: "mara@example.com",
    phone: null,
    notes: "Second floor",
  });
  assert.deepEqual(data[0].attribution, {
    source: "google",
    medium: "cpc",
    campaign: "autumn",
    channel: "Paid Search",
    pageUrl: "https://lindenhof.example/book",
    utmSource: "google",
    utmMedium: "cpc",
    utmCampaign: "autumn",
    gclid: "Cj0KCQiA-marker",
    touches: 2,
  });
  assert.equal(data[0].reference, booked.reference);
  const { totals, channels } = await read("/api/v1/analytics", key);
  assert.equal(totals.bookings, 1);
  assert.equal(channels[0].key, "Paid Search");
});

test("the same Idempotency-Key gives the same response and one booking, even for simultaneous requests", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  const responses = await Promise.all(Array.from({ length: 4 }, () => book(widgetId, toBody(slot), "double click")));
  responses.push(await book(widgetId, toBody(slot), "double click"));
  assert.deepEqual(
    responses.map((response) => response.statusCode),
    [201, 201, 201, 201, 201],
  );
  assert.equal(new Set(responses.map((response) => response.body)).size, 1);
  assert.equal((await read("/api/v1/bookings", key)).data.length, 1);
  const other = await book(widgetId, toBody({ ...slot, start: "2026-11-12T10:00:00.000Z" }), "double click");
  assert.equal(other.statusCode, 409);
  assert.equal(other.json().error.code, "key_reused");
});

test("when twenty people want one slot, one gets it and nineteen are offered other slots", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, n) => book(widgetId, toBody(slot, { visitId: crypto.randomUUID() }), `person ${n}`)),
  );
  const statuses = responses.map((response) => response.statusCode).sort();
  assert.deepEqual(statuses, [201, ...Array(19).fill(409)]);
  const refused = responses.find((response) => response.statusCode === 409)?.json();
  assert.equal(refused.error.code, "slot_taken");
  assert.ok(refused.slots.length > 0);
  assert.ok(refused.slots.every((free: { start: string }) => free.start !== slot.start));
  assert.equal((await read("/api/v1/bookings", key)).data.length, 1);
  const { totals } = await read("/api/v1/analytics", key);
  assert.deepEqual([totals.bookings, totals.failed], [1, 19]);
});

test("with Store bookings off nothing personal reaches the database or the log, and the booking is counted", async () => {
  const { widgetId, key } = await makeSetting({ collectData: false });
  const slot = await findSlot(widgetId);
  const marker = "zzMarker4711";
  const customer = { name: marker, email: `${marker}@example.com`, phone: marker, notes: marker };
  const attribution = { gclid: marker, gaClientId: marker, fbp: marker, utmSource: "google" };
  const response = await book(widgetId, toBody(slot, { customer, attribution }), marker);
  assert.equal(response.statusCode, 201, response.body);
  assert.deepEqual(await findEverywhere(deps.db, marker), []);
  assert.ok(!lines.join("").includes(marker));
  assert.equal((await read("/api/v1/bookings", key)).data.length, 0);
  assert.equal((await read("/api/v1/analytics", key)).totals.bookings, 1);
});

test("a lost reply is looked up: a booking that exists succeeds, one that doesn't fails cleanly", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  const customer = (local: string) => ({ name: "M", email: `${local}@example.com` });
  const created = await book(widgetId, toBody(slot, { customer: customer("fail-timeout-created") }), "created");
  assert.equal(created.statusCode, 201, created.body);
  const next = await findSlot(widgetId);
  const lost = await book(widgetId, toBody(next, { customer: customer("fail-timeout-lost") }), "lost");
  assert.equal(lost.statusCode, 503);
  assert.equal(lost.json().error.code, "scheduler_unavailable");
  assert.equal(lost.json().isSettled, true);
  assert.equal((await read("/api/v1/bookings", key)).data.length, 1);
  const { totals } = await read("/api/v1/analytics", key);
  assert.deepEqual([totals.bookings, totals.failed], [1, 1]);
});

test("a booking whose process died before settling is stored and counted once, later", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  // The state after a process is killed between the scheduling system's confirmation and its own commit: the appointment
  // exists, and the pending row is open.
  const made = await book(widgetId, toBody(slot), "killed");
  assert.equal(made.statusCode, 201);
  const { reference } = made.json();
  const copy = {
    timeZone: "Europe/Berlin",
    customer: { name: "Mara Quell", email: "mara@example.com", phone: null, notes: null },
    answers: [],
    attribution: {},
  };
  const hit = {
    visitId: "6f1c1d9e-7b0a-4a51-9d7e-0c1b5a3f2e44",
    ...{ page: "", source: "(direct)", medium: "(none)", campaign: "(not set)", channel: "Direct" },
    ...{ device: "", country: "" },
  };
  await sql`delete from bookings where reference = ${reference}`.execute(deps.db);
  await sql`update pending_bookings set state = 'asking', settled_at = null, answer = null, copy = ${JSON.stringify(copy)},
      touch = ${JSON.stringify(hit)}, asking_until = ${new Date(clock.now().getTime() + MINUTE_MS)}
    where reference = ${reference}`.execute(deps.db);

  await settleOverdue(deps, SIGNAL);
  assert.equal((await read("/api/v1/bookings", key)).data.length, 0, "the asking process has a minute");
  const before = clock.now();
  clock.set(new Date(before.getTime() + 61_000));
  await settleOverdue(deps, SIGNAL);
  await settleOverdue(deps, SIGNAL);
  clock.set(before);

  const { data } = await read("/api/v1/bookings", key);
  assert.deepEqual(
    data.map((booking: { reference: string }) => booking.reference),
    [reference],
  );
  assert.equal((await findEverywhere(deps.db, "Mara Quell")).includes("public.pending_bookings"), false);
});

test("a request that never reached the scheduling system fails and is counted as failed", async () => {
  const { owner, widgetId, key } = await makeSetting({ collectData: true });
  const reference = await takeReference(deps.db, owner, deps.random);
  const now = clock.now();
  await insertPending(deps.db, owner, {
    reference,
    widget_id: widgetId,
    asked_in: "sandbox",
    keyHash: Buffer.alloc(32),
    visitHash: Buffer.alloc(32),
    service_id: (await findSlot(widgetId)).serviceId,
    start_at: new Date("2026-11-05T09:00:00Z"),
    askingUntil: new Date(now.getTime() - 1),
    hit: DIRECT_HIT,
    copy: null,
    now,
  });
  await settleOverdue(deps, SIGNAL);
  assert.equal((await read("/api/v1/analytics", key)).totals.failed, 1);
});

test("bad input is reported by field, and nothing is booked", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  const cases: [object, string[]][] = [
    [{ customer: { name: " ", email: "mara@example.com" } }, ["customer.name"]],
    [{ customer: { name: "M", email: "mara" } }, ["customer.email"]],
    [{ customer: { name: "M", email: "mara@example.com", phone: "1".repeat(51) } }, ["customer.phone"]],
    [{ timeZone: "Mars/Base" }, ["timeZone"]],
    [{ serviceId: "none" }, ["serviceId"]],
    [{ staffId: "nobody" }, ["staffId"]],
    [{ start: "2026-02-30T10:00:00Z" }, ["start"]],
    [{ answers: [{ questionId: "none", answer: "x" }] }, ["answers.none"]],
    [{ website: "https://spam.example" }, ["website"]],
  ];
  for (const [change, fields] of cases) {
    const response = await book(widgetId, toBody(slot, change), `bad ${fields}`);
    assert.equal(response.statusCode, 422, response.body);
    assert.equal(response.json().error.code, "invalid_fields");
    for (const field of fields) assert.ok(field in response.json().error.fields, `${field} in ${response.body}`);
  }
  assert.equal((await book(widgetId, toBody(slot), "")).statusCode, 400);
  assert.equal((await book(widgetId, { visitId: "x" }, "k")).statusCode, 400);
  assert.equal((await book("w_222222222222", toBody(slot), "k")).statusCode, 404);
  assert.equal((await read("/api/v1/bookings", key)).data.length, 0);
});

test("broken attribution fields are dropped, and the booking is made", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  const attribution = { utmSource: "news", firstSeenAt: "+275000-01-01T00:00:00Z", touches: -1, gclid: 7, other: "x" };
  assert.equal((await book(widgetId, toBody(slot, { attribution }), "key-broken-1")).statusCode, 201);
  const { data } = await read("/api/v1/bookings", key);
  const { utmSource, firstSeenAt, touches, gclid } = data[0].attribution;
  assert.deepEqual([utmSource, firstSeenAt, touches, gclid], ["news", undefined, undefined, undefined]);
  const next = await findSlot(widgetId);
  assert.equal((await book(widgetId, toBody(next, { attribution: "none" }), "key-broken-2")).statusCode, 201);
});

test("no attribution fails a booking: null characters, any length, huge numbers and other schemes are sanitised", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const attribution = {
    utmSource: "ne\u0000ws",
    utmTerm: "\ud800",
    landingPage: `https://lindenhof.example/?a=${"a".repeat(70_000)}`,
    currentPage: { deep: ["\u0000"] },
    firstSeenAt: "9999-12-31T23:59:59-01:00",
    touches: 1e30,
  };
  const page = `https://lindenhof.example/book\u0000${"b".repeat(9_000)}`;
  const body = toBody(await findSlot(widgetId), { attribution, page });
  assert.equal((await book(widgetId, body, "key-forgiven-1")).statusCode, 201);
  const [{ attribution: kept }] = (await read("/api/v1/bookings", key)).data;
  const { utmSource, utmTerm, landingPage, currentPage, firstSeenAt, touches } = kept;
  assert.deepEqual(
    [utmSource, utmTerm, landingPage.length, currentPage, firstSeenAt, touches],
    ["news", "\ufffd", 2_048, undefined, undefined, 1e6],
  );

  const script = { attribution: { landingPage: "javascript:alert(1)" }, page: ["no", "text"] };
  assert.equal((await book(widgetId, toBody(await findSlot(widgetId), script), "key-forgiven-2")).statusCode, 201);
  const [{ attribution: second }] = (await read("/api/v1/bookings?limit=1", key)).data;
  assert.deepEqual([second.landingPage, second.pageUrl], [undefined, undefined]);
});

test("a null character anywhere else is the visitor's error, with or without attribution", async () => {
  const { widgetId } = await makeSetting({ collectData: true });
  const customer = { name: "Mara\u0000", email: "mara@example.com" };
  const body = toBody(await findSlot(widgetId), { customer, attribution: { utmSource: "\u0000" } });
  const { statusCode, json } = await book(widgetId, body, "key-null");
  assert.equal(statusCode, 400);
  assert.equal(json().error.message, "The body could not be read: it contains a null character (\\u0000).");
});

describe("the limits per minute", async () => {
  const limited = await createTestApp({ trustProxy: 1 });
  const [PER_NETWORK, PER_WIDGET] = [20, 60];

  /** Books once from each of the networks, given by number or by an address, and returns the statuses. */
  const bookFrom = async (widgetId: string, networks: readonly (number | string)[], body: object) => {
    const statuses: number[] = [];
    for (const network of networks) {
      const { statusCode } = await limited.app.inject({
        method: "POST",
        url: `/embed-api/${widgetId}/bookings`,
        headers: {
          "idempotency-key": randomUUID(),
          "x-forwarded-for": typeof network === "string" ? network : `10.0.0.${network}`,
        },
        payload: body,
      });
      statuses.push(statusCode);
    }
    return statuses;
  };
  const repeat = (networks: readonly number[], times: number) => Array.from({ length: times }, () => networks).flat();
  /** A new widget and a request that it accepts; a slot can be booked once, so most of these get 409. */
  const start = async () => {
    limited.clock.set(new Date(limited.clock.now().getTime() + MINUTE_MS));
    const widgetId = await makeWidget(limited.deps.db, await makeOrganization(limited.deps.db));
    return { widgetId, wanted: toBody(await findSlot(widgetId, limited.app)) };
  };
  const isRefused = (status: number) => status === 429;

  test("one network makes a limited number of bookings", async () => {
    const { widgetId, wanted } = await start();
    const statuses = await bookFrom(widgetId, repeat([1], PER_NETWORK + 1), wanted);
    assert.deepEqual([statuses.findIndex(isRefused), statuses.length], [PER_NETWORK, PER_NETWORK + 1]);
  });

  test("requests that are refused for what they contain don't use up the widget's limit", async () => {
    const { widgetId, wanted } = await start();
    const faulty = [
      {},
      { ...wanted, website: "spam" },
      { ...wanted, serviceId: "unknown" },
      { ...wanted, customer: { name: "", email: "nobody" } },
    ];
    for (const [place, body] of faulty.entries()) {
      const statuses = await bookFrom(widgetId, repeat([10 * place + 1, 10 * place + 2, 10 * place + 3], 20), body);
      assert.ok(statuses.every((status) => status === 400 || status === 422));
    }
    assert.deepEqual(await bookFrom(widgetId, [99], wanted), [201]);
  });

  test("a few networks can't use up the widget's limit, and visitors may try a second time", async () => {
    const { widgetId, wanted } = await start();
    const statuses = await bookFrom(widgetId, repeat([1, 2, 3, 4, 5, 6], PER_NETWORK), wanted);
    assert.ok(statuses.filter((status) => !isRefused(status)).length < PER_WIDGET);
    assert.deepEqual(await bookFrom(widgetId, [50, 50, 50, 51], wanted), [409, 409, 429, 409]);
  });

  test("one subscriber with 65,536 IPv6 networks is still one network", async () => {
    const { widgetId, wanted } = await start();
    const addresses = Array.from({ length: 2 * PER_WIDGET }, (_, place) => `2001:db8:1:${place}::1`);
    const statuses = await bookFrom(widgetId, addresses, wanted);
    assert.equal(statuses.filter((status) => !isRefused(status)).length, PER_NETWORK);
  });

  test("many networks together book no more often than the widget's limit allows", async () => {
    const { widgetId, wanted } = await start();
    const networks = Array.from({ length: 2 * PER_WIDGET }, (_, place) => place + 1);
    const statuses = await bookFrom(widgetId, networks, wanted);
    assert.equal(statuses.filter((status) => !isRefused(status)).length, PER_WIDGET);
  });
});

test("a paused widget refuses bookings, even from a page opened earlier", async () => {
  const { widgetId } = await makeSetting({ collectData: true });
  const slot = await findSlot(widgetId);
  await sql`update widgets set status = 'paused' where id = ${widgetId}`.execute(deps.db);
  const response = await book(widgetId, toBody(slot), "paused");
  assert.equal(response.statusCode, 403);
  assert.equal(response.json().error.code, "widget_paused");
});

for (const [change, happen] of [
  ["paused", (id: WidgetId) => sql`update widgets set status = 'paused' where id = ${id}`.execute(deps.db)],
  [
    "changed to offer something else",
    (id: WidgetId) =>
      sql`update widgets set offers = '{"sandbox": [{"serviceId": "online-meeting", "staffIds": null}]}'
        where id = ${id}`.execute(deps.db),
  ],
] as const)
  test(`a repeated key gets its booking again even if the widget was ${change} in between`, async () => {
    const { widgetId, key } = await makeSetting({ collectData: true });
    const body = toBody(await findSlot(widgetId));
    const next = toBody(await findSlot(widgetId), { start: "2026-11-12T10:00:00.000Z" });
    const first = await book(widgetId, body, "one booking");
    assert.equal(first.statusCode, 201, first.body);
    await happen(widgetId);
    const again = await book(widgetId, body, "one booking");
    assert.deepEqual([again.statusCode, again.json()], [201, first.json()]);
    const refusals = [await book(widgetId, body, "another booking"), await book(widgetId, next, "one booking")];
    for (const refused of refusals) assert.ok([403, 422].includes(refused.statusCode), refused.body);
    assert.equal((await read("/api/v1/bookings", key)).data.length, 1);
  });

test("a request that was abandoned before it arrived is never booked, and is not counted as failed", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const body = toBody(await findSlot(widgetId));
  const responses = [
    await book(widgetId, { ...body, isAbandoned: true }, "never arrived"),
    await book(widgetId, { ...body, isAbandoned: true }, "never arrived"),
    await book(widgetId, body, "never arrived"),
  ];
  for (const response of responses) {
    assert.equal(response.statusCode, 503);
    assert.equal(response.json().isSettled, true);
  }
  const { totals } = await read("/api/v1/analytics", key);
  assert.deepEqual([totals.bookings, totals.failed], [0, 0]);
  assert.equal((await book(widgetId, body, "another")).statusCode, 201);
});

test("a request that is abandoned after it was booked gets its booking", async () => {
  const { widgetId, key } = await makeSetting({ collectData: true });
  const body = toBody(await findSlot(widgetId));
  const first = await book(widgetId, body, "booked");
  const abandoned = await book(widgetId, { ...body, isAbandoned: true }, "booked");
  assert.deepEqual([abandoned.statusCode, abandoned.json()], [201, first.json()]);
  assert.equal((await read("/api/v1/bookings", key)).data.length, 1);
});

test("while the scheduling system can't list its services, the visitor learns that nothing was booked", async () => {
  const { owner, widgetId, key } = await makeSetting({ collectData: true });
  const body = toBody(await findSlot(widgetId));
  await sql`insert into scheduling_connections
    (id, organization_id, kind, name, settings, credentials, created_at, updated_at)
    values ('c_closed', ${owner}, 'calcom', 'Closed', '{}', 'unreadable', ${NOON}, ${NOON})`.execute(deps.db);
  await sql`update widgets set connection_id = 'c_closed' where id = ${widgetId}`.execute(deps.db);
  const refused = await book(widgetId, body, "closed");
  assert.deepEqual([refused.statusCode, refused.json().isSettled], [503, true]);
  await sql`update widgets set connection_id = null where id = ${widgetId}`.execute(deps.db);
  assert.equal((await book(widgetId, body, "closed")).json().isSettled, true, "an earlier copy that arrives late");
  assert.equal((await book(widgetId, body, "opened")).statusCode, 201);
  assert.equal((await read("/api/v1/bookings", key)).data.length, 1);
});

test("erasing by email also empties an unsettled request", async () => {
  const { owner, widgetId } = await makeSetting({ collectData: true });
  const reference = await takeReference(deps.db, owner, deps.random);
  const marker = "Unsettled Person";
  await insertPending(deps.db, owner, {
    reference,
    widget_id: widgetId,
    asked_in: "sandbox",
    keyHash: Buffer.alloc(32, 1),
    visitHash: Buffer.alloc(32, 1),
    service_id: "x",
    start_at: NOON,
    askingUntil: new Date(NOON.getTime() + MINUTE_MS),
    hit: DIRECT_HIT,
    copy: {
      timeZone: "UTC",
      customer: { name: marker, email: " Un@Example.com", phone: null, notes: null },
      answers: [],
      attribution: {},
    },
    now: NOON,
  });
  assert.deepEqual(await findEverywhere(deps.db, marker), ["public.pending_bookings"]);
  await eraseBookingsByEmail(deps, owner, "uN@example.COM ");
  assert.deepEqual(await findEverywhere(deps.db, marker), []);
});
