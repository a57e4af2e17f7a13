import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { findEverywhere } from "../../../../test/support/search-database.ts";
import { DIRECT_TOUCH } from "../../../../test/support/touches.ts";
import { openSchedulingSystem } from "../../scheduler/open-system.ts";
import { type BookOutcome, refused, type SchedulingSystem, unavailable } from "../../scheduler/scheduling-system.ts";
import { deleteBooking, eraseBookingsByEmail } from "../stored/erase.ts";
import { type MadeBooking, makeBooking, type WantedBooking } from "./make-booking.ts";

const { deps, lines } = await createTestApp();
const { db } = deps;

type Setting = { owner: OrganizationId; widgetId: WidgetId; system: SchedulingSystem; wanted: WantedBooking };

let settings = 0;

/** A visitor who wants the first free time of a widget's sandbox. */
async function makeSetting(): Promise<Setting & { email: string }> {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner);
  const system = await openSchedulingSystem(deps, { id: widgetId, organizationId: owner, connectionId: null });
  const services = await system.listServices();
  const service =
    services.kind === "found" ? services.value.find(({ questions }) => questions.length === 0) : undefined;
  assert.ok(service);
  const range = { from: new Date("2026-11-02T00:00:00Z"), to: new Date("2026-11-09T00:00:00Z") };
  const slots = await system.listSlots({ serviceId: service.id, staffId: null, ...range });
  const slot = slots.kind === "found" ? slots.value[0] : undefined;
  assert.ok(slot);
  const email = `visitor${++settings}@example.com`;
  const customer = { name: "Mara Quell", email, phone: null, notes: null };
  const wanted: WantedBooking = {
    owner,
    widgetId,
    connectionId: null,
    idempotencyKey: "one",
    serviceId: service.id,
    startAt: slot.startAt,
    staffId: null,
    locale: "en",
    touch: DIRECT_TOUCH,
    copy: { timeZone: "Europe/Berlin", customer, answers: [], attribution: {} },
    storesBookings: true,
  };
  return { owner, widgetId, system, wanted, email };
}

/** The same system, but something happens between its word and ours. */
function afterBooking(system: SchedulingSystem, happen: () => Promise<unknown>): SchedulingSystem {
  return {
    ...system,
    book: async (request) => {
      const outcome = await system.book(request);
      await happen();
      return outcome;
    },
  };
}

function requireAnswer(made: MadeBooking) {
  assert.ok(made.kind === "confirmed", JSON.stringify(made));
  return made.answer;
}

async function countAppointments(owner: OrganizationId): Promise<number> {
  return (
    await db.selectFrom("sandbox_appointments").select("reference").where("organization_id", "=", owner).execute()
  ).length;
}

test("a customer erased while their booking is made gets the confirmation and stays erased", async () => {
  const { owner, system, wanted, email } = await makeSetting();
  const made = await makeBooking(
    deps,
    afterBooking(system, () => eraseBookingsByEmail(deps, owner, email)),
    wanted,
  );
  const { reference, manageUrl } = requireAnswer(made);
  assert.deepEqual(await findEverywhere(db, email), []);
  assert.deepEqual(await findEverywhere(db, manageUrl ?? assert.fail()), []);
  assert.equal((await findEverywhere(db, reference)).includes("public.bookings"), false);
  const events = await db.selectFrom("webhook_events").select("id").where("organization_id", "=", owner).execute();
  assert.deepEqual(events, []);
});

for (const [name, erase] of [
  ["erased", async (owner: OrganizationId, { email }: { email: string }) => eraseBookingsByEmail(deps, owner, email)],
  [
    "deleted",
    async (owner: OrganizationId, { reference }: { reference: string }) =>
      deleteBooking(deps, owner, reference as never),
  ],
] as const)
  test(`after a booking is ${name}, its links are gone too, and repeating the key does not book twice`, async () => {
    const { owner, system, wanted, email } = await makeSetting();
    const { reference, manageUrl } = requireAnswer(await makeBooking(deps, system, wanted));
    assert.ok(manageUrl);
    assert.deepEqual(requireAnswer(await makeBooking(deps, system, wanted)).manageUrl, manageUrl);
    assert.deepEqual(await findEverywhere(db, manageUrl), ["public.bookings", "public.pending_bookings"]);
    await erase(owner, { email, reference });
    assert.deepEqual(await findEverywhere(db, manageUrl), []);
    assert.deepEqual(await makeBooking(deps, system, wanted), { kind: "under_way" });
    assert.equal(await countAppointments(owner), 1);
  });

test("a booking requested with Store bookings off is not stored, even if it is turned on in the meantime", async () => {
  const { owner, system, wanted, email } = await makeSetting();
  requireAnswer(await makeBooking(deps, system, { ...wanted, storesBookings: false }));
  assert.equal(await countAppointments(owner), 1);
  assert.deepEqual(await findEverywhere(db, email), []);
});

for (const [when, before, during] of [
  ["when it was requested", { storesBookings: false }, async () => undefined],
  [
    "when it was settled",
    {},
    (id: WidgetId) => sql`update widgets set collect_data = false where id = ${id}`.execute(db),
  ],
] as const)
  test(`if Store bookings was off ${when}, no link and no time zone is kept, and the key still gives the same answer`, async () => {
    const { widgetId, system, wanted: on } = await makeSetting();
    const copy = { ...on.copy, timeZone: "Pacific/Chatham" };
    const wanted = { ...on, ...before, copy };
    const answer = requireAnswer(
      await makeBooking(
        deps,
        afterBooking(system, () => during(widgetId)),
        wanted,
      ),
    );
    assert.ok(answer.manageUrl);
    assert.deepEqual(await findEverywhere(db, answer.manageUrl), []);
    assert.deepEqual(await findEverywhere(db, "Pacific/Chatham"), []);
    assert.deepEqual(requireAnswer(await makeBooking(deps, system, wanted)), answer);

    const silent: SchedulingSystem = { ...system, findByReference: async () => unavailable() };
    const { manageUrl: _, ...rest } = answer;
    assert.deepEqual(requireAnswer(await makeBooking(deps, silent, wanted)), { ...rest, joinUrl: null });
  });

async function listReferences(owner: OrganizationId): Promise<string[]> {
  const rows = await db
    .selectFrom("booking_references")
    .select("reference")
    .where("organization_id", "=", owner)
    .execute();
  return rows.map(({ reference }) => reference);
}

test("a failed booking frees its reference if no scheduling system got it, and only then", async () => {
  const { owner, system, wanted } = await makeSetting();
  const { reference } = requireAnswer(await makeBooking(deps, system, wanted));
  const fail = async (idempotencyKey: string, outcome: BookOutcome | null) => {
    const failing: SchedulingSystem =
      outcome === null ? system : { ...system, kind: "calcom", book: async () => outcome };
    assert.equal((await makeBooking(deps, failing, { ...wanted, idempotencyKey })).kind, "failed");
    return (await listReferences(owner)).length;
  };
  const upstream = { status: null, requestId: null, failure: null };
  assert.equal(await fail("sandbox", null), 1);
  assert.equal(await fail("held back", unavailable()), 1);
  assert.equal(await fail("no connection", unavailable({ ...upstream, failure: "connection_refused" })), 1);
  assert.equal(await fail("taken", { kind: "slot_taken" }), 2);
  assert.equal(await fail("refused", refused("invalid", { ...upstream, status: 400 })), 3);
  assert.equal(await fail("broken off", unavailable({ ...upstream, failure: "timeout" })), 4);
  assert.ok((await listReferences(owner)).includes(reference));
});

test("the visitor gets the scheduling system's answer even if settling fails", async () => {
  const { owner, widgetId, system, wanted } = await makeSetting();
  const settle = (kind: string) => sql`alter table pending_bookings ${sql.raw(kind)}`.execute(db);
  const unwritable = () => settle("add constraint unwritable check (state = 'asking') not valid");
  requireAnswer(await makeBooking(deps, system, wanted));
  const taken = await makeBooking(deps, afterBooking(system, unwritable), { ...wanted, idempotencyKey: "two" });
  await settle("drop constraint unwritable");
  assert.deepEqual(taken, { kind: "failed", failure: "slot_taken" });
  const said = lines.map((line) => JSON.parse(line)).filter(({ name }) => name === "booking.settle_failed");
  assert.deepEqual(
    said.map(({ organizationId, widgetId: id }) => [organizationId, id]),
    [[owner, widgetId]],
  );
});
