import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import type { Change } from "#contract/bookings/booking-changes.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { BookingCancelledEvent, BookingRescheduledEvent } from "#contract/webhooks/webhook-event.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import {
  addCalcomBooking,
  cancelCalcomBooking,
  findCalcomBooking,
  moveCalcomBooking,
} from "../../../../test/support/scheduler/calcom/calcom-changes.ts";
import { startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import type { SentNotice } from "../../../../test/support/scheduler/calcom/calcom-webhooks.ts";
import {
  findCalendlyBooking,
  moveCalendlyBooking,
} from "../../../../test/support/scheduler/calendly/calendly-changes.ts";
import { startCalendlyServer } from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { addConnection } from "../../scheduler/connections/connections.ts";
import { keepSubscriptions } from "../../scheduler/notices/keep-subscriptions.ts";
import { readEventPage } from "../../webhooks/events/read-routes.ts";
import { deleteBooking } from "../stored/erase/erase.ts";
import { listChanges } from "./change-queries.ts";
import { followAppointments } from "./follow-appointments.ts";
import { pollConnections } from "./poll-connections.ts";

// Many changes at the stand-ins for Cal.com and Calendly, which send notices that get lost, come twice, late or in any order.

const settings = { baseUrl: "https://book.example.com", webhookAllowCidrs: ["127.0.0.0/8"] };
const { app, deps, clock } = await createTestApp(settings);
const { db } = deps;
after(() => deps.scheduler.outbound.close());
const NEVER = new AbortController().signal;
const APPOINTMENTS = 200;
const STEPS = 500;

type State = { isActive: boolean; start: string; externalId: string };

/** What happens in the system's own pages. */
type World = {
  kind: "calcom" | "calendly";
  parts: { settings: object; credentials: object };
  make: (reference: string, externalId: string, times: { startAt: Date; endAt: Date }) => void;
  read: (reference: string) => State;
  cancel: (reference: string) => SentNotice[];
  move: (reference: string, startAt: Date) => SentNotice[];
};

async function openCalcom(): Promise<World> {
  const server = await startCalcomServer();
  after(() => server.stop());
  const { bookings, webhooks } = server;
  return {
    kind: "calcom",
    parts: server.parts,
    make: (reference, uid, { startAt, endAt }) =>
      addCalcomBooking(bookings, { reference, uid, startAt, endAt, updatedAt: NOON }),
    read: (reference) => {
      const { status, start, uid } = findCalcomBooking(bookings, reference);
      return { isActive: status === "accepted", start, externalId: uid };
    },
    cancel: (reference) => {
      const booking = findCalcomBooking(bookings, reference);
      cancelCalcomBooking(bookings, booking);
      return webhooks.sendCancelled(booking);
    },
    move: (reference, startAt) =>
      webhooks.sendMoved(moveCalcomBooking(bookings, findCalcomBooking(bookings, reference), startAt)),
  };
}

async function openCalendly(): Promise<World> {
  const server = await startCalendlyServer(NOON);
  after(() => server.stop());
  const { bookings, webhooks } = server;
  return {
    kind: "calendly",
    parts: server.parts,
    make: (reference, uuid, { startAt, endAt }) =>
      bookings.push({
        uuid,
        status: "active",
        start_time: startAt.toISOString(),
        end_time: endAt.toISOString(),
        event_type: "https://api.calendly.com/event_types/CHECKUP",
        isOnline: false,
        links: "https",
        invitee: { name: "Mara Quell", email: "mara.quell@example.com", timezone: "Europe/Prague" },
        questions_and_answers: [],
        tracking: { utm_content: reference },
      }),
    read: (reference) => {
      const { status, start_time, uuid } = findCalendlyBooking(bookings, reference);
      return { isActive: status === "active", start: start_time, externalId: uuid };
    },
    cancel: (reference) => {
      const booking = findCalendlyBooking(bookings, reference);
      booking.status = "canceled";
      return webhooks.sendCanceled(booking);
    },
    move: (reference, startAt) => {
      const booking = findCalendlyBooking(bookings, reference);
      return webhooks.sendMoved(booking, moveCalendlyBooking(bookings, booking, startAt));
    },
  };
}

async function deliver({ url, headers, body }: SentNotice): Promise<void> {
  const response = await app.inject({ method: "POST", url: new URL(url).pathname, headers, payload: body });
  assert.equal(response.statusCode, 204);
}

/** Polls once more, and follows until nothing is due. */
async function catchUp(): Promise<void> {
  clock.set(new Date(clock.now().getTime() + DAY_MS));
  await pollConnections(deps, NEVER);
  for (let left = 1; left > 0; ) {
    await followAppointments(deps, NEVER);
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from appointment_checks where due_at <= ${clock.now()}`.execute(db);
    left = rows[0]?.count ?? 0;
  }
}

for (const open of [openCalcom, openCalendly])
  test(`${APPOINTMENTS} appointments end as ${open.name.slice("open".length)} has them, each change listed once, whatever becomes of notices`, async () => {
    clock.set(NOON);
    const world = await open();
    const owner = await makeOrganization(db, { plan: "business" });
    const widgetId = await makeWidget(db, owner);
    const added = await addConnection(
      deps,
      owner,
      { ...world.parts, kind: world.kind, name: "Practice" } as Parameters<typeof addConnection>[2],
      noAudit,
    );
    assert.ok(added.kind === "added", added.kind);
    await keepSubscriptions(deps, NEVER);
    const references: Reference[] = [];
    const firstStarts = new Map<Reference, Date>();
    for (let i = 0; i < APPOINTMENTS; i++) {
      const startAt = new Date(NOON.getTime() + 30 * DAY_MS + i * HOUR_MS);
      const times = { startAt, endAt: new Date(startAt.getTime() + 30 * MINUTE_MS) };
      const externalId = `first${i}`;
      const columns = {
        asked_in: added.id,
        external_id: externalId,
        service_id: "10",
        start_at: startAt,
        end_at: times.endAt,
      };
      const { reference } = await makeBooking(db, owner, { widgetId, ...columns });
      world.make(reference, externalId, times);
      references.push(reference as Reference);
      firstStarts.set(reference as Reference, startAt);
    }

    const erased = new Set<Reference>();
    const roll = createDice(41);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(roll() * from.length)] as T;
    const notices: SentNotice[] = [];
    let [lost, doubled, arrived] = [0, 0, 0];
    const send = (sent: readonly SentNotice[]) => {
      for (const notice of sent) {
        const fate = roll();
        if (fate < 0.33) lost++;
        else notices.push(notice);
        if (fate > 0.8) doubled += notices.push(notice) > 0 ? 1 : 0;
      }
    };
    for (let step = 0; step < STEPS; step++) {
      clock.set(new Date(clock.now().getTime() + 10 * SECOND_MS));
      const reference = pick(references);
      const kind = pick(["cancel", "move", "move", "move back", "erase"] as const);
      const { isActive, start } = world.read(reference);
      if (kind === "erase" && roll() < 0.3) {
        await deleteBooking(deps, owner, reference);
        erased.add(reference);
      } else if (kind === "cancel" && isActive) send(world.cancel(reference));
      else if (kind.startsWith("move") && isActive) {
        const back = firstStarts.get(reference) ?? assert.fail();
        send(world.move(reference, kind === "move back" ? back : new Date(Date.parse(start) + HOUR_MS)));
      }
      if (step % 10 > 0) continue;
      const ready = notices.splice(0, Math.floor(roll() * notices.length)).sort(() => roll() - 0.5);
      arrived += ready.length;
      await Promise.all([...ready.map(deliver), followAppointments(deps, NEVER), followAppointments(deps, NEVER)]);
    }
    assert.ok(lost > 50 && doubled > 30 && arrived > 100, `${lost} lost, ${doubled} doubled, ${arrived} arrived`);
    await catchUp();
    await catchUp();

    const copy = await readCopy(owner);
    const expected = references
      .filter((reference) => !erased.has(reference))
      .toSorted()
      .map((reference) => {
        const { isActive, start, externalId } = world.read(reference);
        return { reference, status: isActive ? "confirmed" : "cancelled", start: new Date(start), externalId };
      });
    // What was cancelled before its last move was seen keeps the start that was known.
    const toShown = ({ reference, status, start, externalId }: (typeof copy)[number]) =>
      status === "cancelled" ? { reference, status } : { reference, status, start, externalId };
    assert.deepEqual(copy.map(toShown), expected.map(toShown));
    assert.ok(erased.size > 5 && copy.some(({ status }) => status === "cancelled"));

    const changes = await listChanges(db, owner, { from: NOON, before: null, limit: 5_000 });
    assert.equal(new Set(changes.map(({ changedAt }) => changedAt)).size, changes.length);
    for (const { reference, status, start } of copy) {
      const own = changes.filter((change) => change.reference === reference).toReversed();
      for (const [place, change] of own.entries()) {
        const before = own[place - 1];
        if (before) assert.equal(change.previousStart, before.start, "each change begins where the last one ended");
        const isSame = before?.status === change.status && change.start === change.previousStart;
        assert.ok(!isSame, "no change is listed twice");
      }
      const last = own.at(-1);
      if (last) assert.deepEqual([last.status, last.start], [status, start.toISOString()]);
    }
    assert.ok(changes.every(({ reference }) => !erased.has(reference as Reference)));
    assert.deepEqual((await listEvents(owner)).toSorted(), changes.map(toLine).toSorted(), "each change is one event");
  });

async function readCopy(owner: OrganizationId) {
  const { rows } = await sql<{ reference: Reference; status: string; start: Date; externalId: string }>`
    select reference, status, start_at as start, external_id as "externalId" from bookings
    where organization_id = ${owner} order by reference`.execute(db);
  return rows;
}

const toLine = ({ reference, type, start, status, previousStart }: Change) =>
  [reference, type, start, status, type === "rescheduled" ? previousStart : ""].join(" ");

async function listEvents(owner: OrganizationId): Promise<string[]> {
  const { bodies } = await readEventPage(db, owner, {
    types: ["booking.cancelled", "booking.rescheduled"],
    createdFrom: NOON,
    listedAfter: null,
    limit: 5_000,
    now: clock.now(),
  });
  return bodies.map((body) => {
    const { type, data } = JSON.parse(body.toString()) as BookingCancelledEvent | BookingRescheduledEvent;
    const { reference, start, status } = data.booking;
    const previousStart = "previousStart" in data ? data.previousStart : "";
    return [reference, type.replace("booking.", ""), start, status, previousStart].join(" ");
  });
}

function createDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
