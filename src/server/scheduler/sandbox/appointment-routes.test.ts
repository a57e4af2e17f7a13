import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { listWeek, requireBooked, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { sweepExpired } from "../../operations/retention.ts";
import { createSandbox } from "./sandbox.ts";

const BASE_URL = "https://book.example.com";
const { app, deps, clock } = await createTestApp({ baseUrl: BASE_URL });
const NEVER = new AbortController().signal;

async function bookOnline() {
  clock.set(NOON);
  const owner = await makeOrganization(deps.db, { timeZone: "Europe/Berlin" });
  const widgetId = await makeWidget(deps.db, owner);
  const system = createSandbox({ ...deps, baseUrl: BASE_URL }, { organizationId: owner, widgetId });
  const [slot, other] = await listWeek(system, { now: NOON, serviceId: "online-meeting" });
  assert.ok(slot && other);
  const request = toRequest("online-meeting", slot);
  const booked = requireBooked(await system.book(request, NEVER));
  const toPath = (url: string | null) => new URL(url ?? "").pathname;
  const paths = { manage: toPath(booked.manageUrl), meet: toPath(booked.joinUrl) };
  return { owner, widgetId, system, slot, other, booked, reference: request.reference, ...paths };
}

async function bookStored() {
  const made = await bookOnline();
  const { booked, reference } = made;
  await makeBooking(deps.db, made.owner, {
    widgetId: made.widgetId,
    reference,
    asked_in: "sandbox",
    external_id: booked.externalId,
    service_id: "online-meeting",
    start_at: booked.startAt,
    end_at: booked.endAt,
    manage_url: booked.manageUrl,
    join_url: booked.joinUrl,
    is_test: true,
  });
  return made;
}

const get = (url: string, language = "en") => app.inject({ url, headers: { "accept-language": language } });

function post(url: string, headers: Record<string, string> = {}, payload = "") {
  return app.inject({
    method: "POST",
    url,
    headers: { host: "book.example.com", "content-type": "application/x-www-form-urlencoded", ...headers },
    payload,
  });
}

test("the manage page shows the appointment, and can't be cached, indexed or framed", async () => {
  const { manage, booked } = await bookOnline();
  const { statusCode, headers, body } = await get(manage);
  assert.equal(statusCode, 200);
  for (const shown of [
    "Your test booking",
    "Lindenhof",
    "Online meeting (sample)",
    booked.staff[0]?.name ?? "?",
    "(Europe/Berlin)",
  ])
    assert.ok(body.includes(shown), shown);
  assert.ok(body.includes(booked.joinUrl ?? "?"));
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["x-robots-tag"], "noindex");
  assert.equal(headers["referrer-policy"], "same-origin");
  assert.match(String(headers["content-security-policy"]), /^default-src 'none'; .*frame-ancestors 'none'$/);
  assert.ok(!/<script|style=/.test(body));
});

test("the manage page uses the visitor's language", async () => {
  const { manage, meet } = await bookOnline();
  const titles = {
    "de-AT,de;q=0.9": "Ihre Testbuchung",
    fr: "Votre réservation de test",
    es: "Su reserva de prueba",
    "pt-PT": "A sua marcação de teste",
    "pt-BR": "Seu agendamento de teste",
  };
  for (const [language, title] of Object.entries(titles))
    assert.ok((await get(manage, language)).body.includes(`<h1>${title}</h1>`), language);
  assert.ok((await get(manage, "ja, *;q=0.1")).body.includes("<h1>Your test booking</h1>"));
  assert.ok((await get(meet, "de")).body.includes("<h1>Ihr Online-Termin</h1>"));
});

test("the manage page writes dates and times as usual in the visitor's region, like the widget", async () => {
  const { manage, slot } = await bookOnline();
  const day = (tag: string) =>
    new Intl.DateTimeFormat(tag, { dateStyle: "full", timeZone: "Europe/Berlin" }).format(slot.startAt);
  const british = (await get(manage, "en-GB,en;q=0.9")).body;
  assert.ok(british.includes(day("en-GB")));
  assert.doesNotMatch(british, /:[0-9]{2}\s?[AP]M/);
  const american = (await get(manage, "en-US")).body;
  assert.ok(american.includes(day("en-US")) && day("en-US") !== day("en-GB"));
  assert.match(american, /:[0-9]{2}\s?[AP]M/);
});

test("cancelling frees the time and says so, and cannot be undone", async () => {
  const { manage, meet } = await bookOnline();
  const response = await post(manage, { origin: BASE_URL });
  assert.deepEqual([response.statusCode, response.headers["location"]], [303, manage]);
  for (const path of [manage, meet]) {
    const { body } = await get(path);
    assert.ok(body.includes("<h1>This appointment has been cancelled</h1>"));
    assert.ok(!body.includes("<form"));
  }
  assert.equal((await post(manage, { origin: BASE_URL })).statusCode, 303);
});

test("a cancelled or moved appointment changes the stored booking at once", async () => {
  const { owner, manage, reference, slot, other } = await bookStored();
  const { key } = await makeKey(deps.db, owner);
  const read = async (path: string) =>
    (await app.inject({ url: `/api/v1/${path}`, headers: { authorization: `Bearer ${key}` } })).json().data;
  const [before] = await read("bookings");
  assert.deepEqual(
    [before.reference, before.status, before.start],
    [reference, "confirmed", slot.startAt.toISOString()],
  );

  assert.ok((await get(manage)).body.includes(`<option value="${other.startAt.toISOString()}">`));
  const moved = await post(manage, { origin: BASE_URL }, `start=${encodeURIComponent(other.startAt.toISOString())}`);
  assert.deepEqual([moved.statusCode, moved.headers["location"]], [303, manage]);
  const times = { start: other.startAt.toISOString(), end: other.endAt.toISOString() };
  assert.deepEqual(await read("bookings"), [{ ...before, ...times }]);

  await post(manage, { origin: BASE_URL });
  assert.deepEqual(await read("bookings"), [{ ...before, ...times, status: "cancelled" }]);
  const changes: { type: string; previousStart: string }[] = await read("changes");
  assert.deepEqual(
    changes.map(({ type, previousStart }) => [type, previousStart]),
    [
      ["cancelled", times.start],
      ["rescheduled", before.start],
    ],
  );
  const { rows } = await sql`select from appointment_checks where organization_id = ${owner}`.execute(deps.db);
  assert.deepEqual(rows, []);
});

test("a time that someone else has taken, or that was never offered, moves nothing", async () => {
  const { manage, slot, other, system } = await bookStored();
  requireBooked(await system.book(toRequest("online-meeting", other), NEVER));
  for (const start of [other.startAt.toISOString(), "2026-11-01T03:07:00.000Z", "tomorrow"]) {
    const response = await post(manage, { origin: BASE_URL }, `start=${encodeURIComponent(start)}`);
    assert.deepEqual([response.statusCode, response.headers["location"]], [303, `${manage}?taken`], start);
  }
  const { body } = await get(`${manage}?taken`);
  assert.ok(body.includes("Someone else took this time."));
  const day = new Intl.DateTimeFormat("en", { dateStyle: "full", timeZone: "Europe/Berlin" }).format(slot.startAt);
  assert.ok(body.includes(day));
});

test("a form on another site cancels nothing", async () => {
  const { manage } = await bookOnline();
  for (const headers of [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: "https://book.example.com.evil.example" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ]) {
    const response = await post(manage, headers);
    assert.equal(response.statusCode, 403, JSON.stringify(headers));
  }
  assert.ok((await get(manage)).body.includes("<form"));
});

test("an appointment that has started is shown without a form, and an open form no longer cancels it", async () => {
  const { manage, slot } = await bookOnline();
  clock.set(slot.startAt);
  assert.equal((await post(manage, { origin: BASE_URL })).statusCode, 303);
  const { body } = await get(manage);
  assert.ok(body.includes("<h1>This appointment has already started or is over</h1>"));
  assert.ok(!body.includes("<form"));
});

test("the meeting page says before and during the appointment that it has no video", async () => {
  const { meet, slot } = await bookOnline();
  for (const at of [new Date(slot.startAt.getTime() - 1), slot.startAt, slot.endAt]) {
    clock.set(at);
    const { body } = await get(meet);
    assert.ok(body.includes("<h1>Your meeting room</h1>"));
    assert.ok(body.includes("This room is part of the test calendar. There is no video or sound."));
  }
});

test("a wrong token, or the other page's token, is not found", async () => {
  const { manage, meet } = await bookOnline();
  const swap = (path: string, to: string) => path.replace(/^\/\w+/, to);
  for (const path of ["/manage/x", "/meet/x", `${manage}x`, swap(manage, "/meet"), swap(meet, "/manage")]) {
    const { statusCode, headers, body } = await get(path);
    assert.equal(statusCode, 404, path);
    assert.match(String(headers["content-type"]), /^text\/html/);
    assert.ok(body.includes("<h1>Appointment not found</h1>"));
  }
  assert.equal((await post(swap(meet, "/manage"), { origin: BASE_URL })).statusCode, 404);
  assert.ok((await get(manage)).body.includes("<form"));
});

test("other bodies and methods are refused", async () => {
  const { manage } = await bookOnline();
  assert.equal((await post(manage, { origin: BASE_URL, "content-type": "application/json" })).statusCode, 400);
  assert.equal((await app.inject({ method: "PUT", url: manage })).statusCode, 405);
});

test("widget and service names are text and never markup", async () => {
  const { manage, owner } = await bookOnline();
  const marker = "<img src=x onerror=alert(1)>";
  await deps.db.updateTable("widgets").set({ business_name: marker }).where("organization_id", "=", owner).execute();
  const { body } = await get(manage);
  assert.ok(!body.includes(marker) && body.includes("&lt;img src=x onerror=alert(1)&gt;"));
});

test("an appointment is kept for 30 days after its end, and then its links stop working", async () => {
  const { manage, slot } = await bookOnline();
  const daysAfter = (days: number) => new Date(slot.endAt.getTime() + days * DAY_MS);
  clock.set(daysAfter(29));
  await sweepExpired(deps);
  assert.equal((await get(manage)).statusCode, 200);
  clock.set(daysAfter(31));
  const { appointments } = await sweepExpired(deps);
  assert.ok(appointments >= 1);
  assert.equal((await get(manage)).statusCode, 404);
});
