import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestApp } from "../../../../../test/support/app/app.ts";
import { errorResponse, getJson, makeCaller } from "../../../../../test/support/app/read-api.ts";
import { makeBooking, makeKey, makeOrganization, makeWidget, NOON } from "../../../../../test/support/builders.ts";

const { app, deps } = await createTestApp();

test("a stored booking is returned with every field of the contract", async () => {
  const owner = await makeOrganization(deps.db);
  const widgetId = await makeWidget(deps.db, owner);
  const { key } = await makeKey(deps.db, owner);
  const { reference } = await makeBooking(deps.db, owner, {
    widgetId,
    customer_phone: "+49 30 1234",
    customer_notes: "Second floor",
    staff: JSON.stringify([
      { id: "st-1", name: "Ada" },
      { id: "st-2", name: "Ben" },
    ]),
    answers: JSON.stringify([{ questionId: "q1", question: "First visit?", answer: "Yes" }]),
    attribution: JSON.stringify({ source: "google", medium: "cpc", touches: 3, leaked: "never" }),
    external_id: "ext-1",
    manage_url: "https://scheduler.example/m/1",
    join_url: "https://meet.example/1",
  });

  const response = await app.inject({ url: "/api/v1/bookings", headers: { authorization: `Bearer ${key}` } });

  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), {
    data: [
      {
        reference,
        status: "confirmed",
        createdAt: NOON.toISOString(),
        start: "2026-11-05T09:00:00.000Z",
        end: "2026-11-05T09:30:00.000Z",
        timeZone: "Europe/Berlin",
        service: { id: "svc-1", name: "Check-up" },
        staff: ["Ada", "Ben"],
        customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: "+49 30 1234", notes: "Second floor" },
        answers: [{ questionId: "q1", question: "First visit?", answer: "Yes" }],
        attribution: { source: "google", medium: "cpc", touches: 3 },
        manageUrl: "https://scheduler.example/m/1",
      },
    ],
    nextCursor: null,
  });
});

test("one booking has the fields that it has in the list, and everything about the customer only with the scope bookings", async () => {
  for (const scope of ["bookings", "bookings.anonymous"] as const) {
    const { owner, widgetId, headers } = await makeCaller(deps.db, { scopes: [scope] });
    const { reference } = await makeBooking(deps.db, owner, { widgetId, customer_notes: "Second floor" });
    const { body } = await getJson(app, "/api/v1/bookings", headers);
    const one = await getJson(app, `/api/v1/bookings/${reference}`, headers);
    assert.deepEqual(one, { status: 200, body: (body as { data: unknown[] }).data[0] });
    if (scope === "bookings.anonymous") assert.doesNotMatch(JSON.stringify(one), /mara|second floor|@/i);
  }
});

test("a booking of another organization, one past its retention and one that never was are not found", async () => {
  const [own, other] = [await makeCaller(deps.db), await makeCaller(deps.db)];
  const { reference: foreign } = await makeBooking(deps.db, other.owner, { widgetId: other.widgetId });
  const old = { widgetId: own.widgetId, now: new Date("2024-01-01T00:00:00.000Z") };
  const { reference: expired } = await makeBooking(deps.db, own.owner, old);
  for (const reference of [foreign, expired, "SVC-ZZZZZZ", "svc-zzzzzz", "..%2Fwidgets", "SVC-ZZZZZZ%00"])
    assert.deepEqual(
      await getJson(app, `/api/v1/bookings/${reference}`, own.headers),
      errorResponse(404, "not_found", "Booking not found."),
      reference,
    );
});
