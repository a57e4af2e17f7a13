import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget, updateWidget } from "../../../../test/support/builders.ts";
import { untilSomeoneWaits } from "../../../../test/support/database/count-blocked.ts";
import { isCluster } from "../../../../test/support/database/database.ts";
import { findEverywhere } from "../../../../test/support/database/search-database.ts";
import { openSilentWire } from "../../../../test/support/database/silent-wire.ts";
import { readAnalytics } from "../../../../test/support/funnel/analytics.ts";
import { DIRECT_HIT } from "../../../../test/support/funnel/hits.ts";
import { until } from "../../../../test/support/until.ts";
import { DatabaseUnavailable } from "../../db/connections/database-unavailable.ts";
import { type Db, openDb, openPool } from "../../db/connections/pool.ts";
import { createLog } from "../../lib/log/log.ts";
import { deleteOrganization } from "../../organizations/delete-organization.ts";
import { openSchedulingSystem } from "../../scheduler/open-system.ts";
import { refused, type SchedulingSystem, unavailable } from "../../scheduler/scheduling-system.ts";
import { deleteBooking, eraseBookingsByEmail } from "../stored/erase/erase.ts";
import { makeBooking, type WantedBooking } from "./make-booking.ts";
import type { MadeBooking } from "./repeat-booking.ts";
import { settleOverdue } from "./settle-overdue.ts";
import { Settler } from "./settler.ts";

const { deps, clock, lines, url } = await createTestApp();
const { db } = deps;
const settler = new Settler(deps);
after(() => settler.close());
const making = { ...deps, settler };

const onOneServer = { skip: isCluster() && "at home, statements have connections of their own" };

type Setting = { owner: OrganizationId; widgetId: WidgetId; system: SchedulingSystem; wanted: WantedBooking };

let settings = 0;

/** A visitor who wants the first free time in a widget's sandbox. */
async function makeSetting(options: { collectData?: boolean } = {}): Promise<Setting & { email: string }> {
  const owner = await makeOrganization(db);
  const widgetId = await makeWidget(db, owner, options);
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
    offeredStaffIds: null,
    locale: "en",
    hit: DIRECT_HIT,
    copy: { timeZone: "Europe/Berlin", customer, answers: [], attribution: {} },
  };
  return { owner, widgetId, system, wanted, email };
}

/** The same system, with something happening between its reply and our commit. */
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

/** The same system, with a page of its own for cancelling. */
function withCancelUrl(system: SchedulingSystem, cancelUrl: string): SchedulingSystem {
  return {
    ...system,
    book: async (request) => {
      const outcome = await system.book(request);
      return outcome.kind === "booked" ? { ...outcome, booked: { ...outcome.booked, cancelUrl } } : outcome;
    },
  };
}

function requireBooked(made: MadeBooking) {
  assert.ok(made.kind === "confirmed", JSON.stringify(made));
  return made.response;
}

/** What can be said of a confirmed booking whose response is recorded nowhere. */
function toKnownResponse({ startAt, serviceId, copy }: WantedBooking, reference: string) {
  const [start, { timeZone }] = [startAt.toISOString(), copy];
  return { reference, status: "confirmed", start, timeZone, service: { id: serviceId }, staff: [], joinUrl: null };
}

async function countAppointments(owner: OrganizationId): Promise<number> {
  return (
    await db.selectFrom("sandbox_appointments").select("reference").where("organization_id", "=", owner).execute()
  ).length;
}

test("sixteen visitors who book at the same time are all booked", async () => {
  const { system, wanted } = await makeSetting();
  const range = { from: new Date("2026-11-02T00:00:00Z"), to: new Date("2026-11-30T00:00:00Z") };
  const slots = await system.listSlots({ serviceId: wanted.serviceId, staffId: null, ...range });
  assert.ok(slots.kind === "found");
  const starts = [...new Map(slots.value.map(({ startAt }) => [startAt.toISOString().slice(0, 10), startAt])).values()];
  const visitors = starts.slice(0, 16).map((startAt, n) => {
    const hit = { ...wanted.hit, visitId: crypto.randomUUID() };
    return makeBooking(making, system, { ...wanted, startAt, idempotencyKey: `visitor ${n}`, hit });
  });
  const references = (await Promise.all(visitors)).map((made) => requireBooked(made).reference);
  assert.equal(new Set(references).size, 16);
});

test("a customer erased while their booking is made gets the confirmation and stays erased", async () => {
  const { owner, system, wanted, email } = await makeSetting();
  const made = await makeBooking(
    making,
    afterBooking(system, () => eraseBookingsByEmail(deps, owner, email)),
    wanted,
  );
  const { reference, manageUrl } = requireBooked(made);
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
  test(`after a booking is ${name}, its links are gone too, and the same key still says that it is confirmed`, async () => {
    const { owner, system, wanted, email } = await makeSetting();
    const { reference, manageUrl } = requireBooked(await makeBooking(making, system, wanted));
    assert.ok(manageUrl);
    assert.deepEqual(requireBooked(await makeBooking(making, system, wanted)).manageUrl, manageUrl);
    assert.deepEqual(await findEverywhere(db, manageUrl), [
      "public.bookings",
      "public.pending_bookings",
      "public.webhook_events",
    ]);
    await erase(owner, { email, reference });
    assert.deepEqual(await findEverywhere(db, manageUrl), []);
    assert.deepEqual(requireBooked(await makeBooking(making, system, wanted)), {
      ...toKnownResponse(wanted, reference),
      isErased: true,
    });
    assert.equal(await countAppointments(owner), 1);
  });

test("the visitor gets a separate link to cancel; it is kept with the response only, and not with Store bookings off", async () => {
  for (const [storesBookings, kept] of [
    [true, ["public.pending_bookings"]],
    [false, []],
  ] as const) {
    const { system, wanted } = await makeSetting({ collectData: storesBookings });
    const cancelUrl = `https://scheduler.example/cancel/${wanted.widgetId}`;
    const made = await makeBooking(making, withCancelUrl(system, cancelUrl), wanted);
    assert.equal(requireBooked(made).cancelUrl, cancelUrl);
    assert.deepEqual(await findEverywhere(db, cancelUrl), kept);
  }
});

test("a booking requested with Store bookings off is not stored, even if it is turned on in the meantime", async () => {
  const { owner, widgetId, system, wanted, email } = await makeSetting({ collectData: false });
  const turnOn = () => updateWidget(db, widgetId, { collect_data: true });
  requireBooked(await makeBooking(making, afterBooking(system, turnOn), wanted));
  assert.equal(await countAppointments(owner), 1);
  assert.deepEqual(await findEverywhere(db, email), []);
});

const NO_REPLY = { status: null, requestId: null, failure: null };
const QUICK = { ...making, scheduler: { limits: { bookMs: 400 } } };

/** How a request can end: its system's reply, what the visitor learns, and what the task finds out later about an open request. */
const ENDINGS: [string, (system: SchedulingSystem) => Partial<SchedulingSystem>, MadeBooking["kind"] | null, string][] =
  [
    ["confirmed", () => ({}), "confirmed", "confirmed"],
    ["slot taken", () => ({ book: async () => ({ kind: "slot_taken" }) }), "failed", "failed"],
    ["refused", () => ({ book: async () => refused("invalid", { ...NO_REPLY, status: 400 }) }), "failed", "failed"],
    ["unavailable", () => ({ book: async () => unavailable() }), "failed", "failed"],
    ["reply lost, and booked", withLostReply, "uncertain", "confirmed"],
    [
      "reply lost, and not booked",
      () => ({
        book: async () => ({ kind: "unknown", upstream: NO_REPLY }),
        findByReference: async () => unavailable(),
      }),
      "uncertain",
      "failed",
    ],
    ["process killed before booking", () => ({ book: () => Promise.reject(new Error("killed")) }), null, "failed"],
    [
      "process killed after booking",
      (system) => afterBooking(system, () => Promise.reject(new Error("killed"))),
      null,
      "confirmed",
    ],
  ];

function withLostReply(system: SchedulingSystem): Partial<SchedulingSystem> {
  return {
    book: async (request) => {
      await system.book(request);
      return { kind: "unknown", upstream: NO_REPLY };
    },
    findByReference: async () => unavailable(),
  };
}

for (const [ending, change, made, settled] of ENDINGS)
  test(`with Store bookings off nothing personal is in any table or log line, however the request ends: ${ending}`, async () => {
    for (const storesBookings of [true, false]) {
      const { widgetId, system, wanted } = await makeSetting({ collectData: storesBookings });
      const marker = `Marker${widgetId}`.replace("_", "");
      const customer = { name: marker, email: `${marker}@example.com`, phone: marker, notes: marker };
      const answers = [{ questionId: "q1", question: "Which?", answer: marker }];
      const personal = {
        ...wanted,
        idempotencyKey: marker,
        copy: { ...wanted.copy, customer, answers, attribution: { gclid: marker } },
      };
      const ended: SchedulingSystem = { ...system, ...change(system) };
      const tables: string[][] = [];
      const search = async () => tables.push(await findEverywhere(db, marker));
      const asked: SchedulingSystem = {
        ...ended,
        book: async (request) => {
          await search();
          return await ended.book(request);
        },
      };
      const outcome = await makeBooking(QUICK, asked, personal).catch(({ message }: Error) =>
        assert.equal(message, "killed"),
      );
      assert.equal(outcome?.kind ?? null, made);
      await search();
      const now = clock.now();
      clock.set(new Date(now.getTime() + 2 * MINUTE_MS));
      await settleOverdue(deps, new AbortController().signal);
      clock.set(now);
      await search();
      const { rows } = await sql`select state from pending_bookings where widget_id = ${widgetId}`.execute(db);
      assert.deepEqual(rows, [{ state: settled }]);
      if (storesBookings) assert.deepEqual(tables[0], ["public.pending_bookings"], "the search finds what is there");
      else assert.deepEqual(tables.flat(), []);
      assert.equal(lines.join("").includes(marker), false);
    }
  });

for (const [when, before, during] of [
  ["when it was requested", { collectData: false }, async () => undefined],
  ["when it was settled", {}, (id: WidgetId) => updateWidget(db, id, { collect_data: false })],
] as const)
  test(`if Store bookings was off ${when}, nothing of the response is kept, and the key still gives the same response`, async () => {
    const { widgetId, system, wanted: usual } = await makeSetting(before);
    const wanted = { ...usual, copy: { ...usual.copy, timeZone: "Pacific/Chatham" } };
    const response = requireBooked(
      await makeBooking(
        making,
        afterBooking(system, () => during(widgetId)),
        wanted,
      ),
    );
    assert.ok(response.manageUrl);
    assert.deepEqual(await findEverywhere(db, response.manageUrl), []);
    assert.deepEqual(await findEverywhere(db, "Pacific/Chatham"), []);
    const { rows: kept } = await sql`
      select state, answer, copy from pending_bookings where widget_id = ${widgetId}`.execute(db);
    assert.deepEqual(kept, [{ state: "confirmed", answer: null, copy: null }]);
    assert.deepEqual(requireBooked(await makeBooking(making, system, wanted)), response);

    const silent: SchedulingSystem = { ...system, findByReference: async () => unavailable() };
    const known = toKnownResponse(wanted, response.reference);
    assert.deepEqual(requireBooked(await makeBooking(making, silent, wanted)), known);
  });

/** Changes the widget; the change is acknowledged when the returned function has committed it. */
async function changeSlowly(widgetId: WidgetId, change: { collect_data: false } | { status: "paused" }) {
  const changing = await db.startTransaction().execute();
  await updateWidget(changing as unknown as Db, widgetId, change);
  return () => changing.commit().execute();
}

test("nothing is stored or sent once turning off Store bookings was acknowledged", async () => {
  const { owner, widgetId, system, wanted, email } = await makeSetting();
  let commit = async () => {};
  const turningOff = afterBooking(system, async () => {
    commit = await changeSlowly(widgetId, { collect_data: false });
  });
  const request = makeBooking(making, turningOff, wanted);
  await untilSomeoneWaits(db);
  await commit();
  requireBooked(await request);
  assert.deepEqual(await findEverywhere(db, email), []);
  const events = await db.selectFrom("webhook_events").select("id").where("organization_id", "=", owner).execute();
  assert.deepEqual(events, []);
});

test("nothing personal is written, and nothing is booked, once a change of the widget was acknowledged", async () => {
  for (const [change, expected] of [
    [{ collect_data: false }, "confirmed"],
    [{ status: "paused" }, "closed"],
  ] as const) {
    const { owner, widgetId, system, wanted, email } = await makeSetting();
    const commit = await changeSlowly(widgetId, change);
    let whileAsked: string[] = ["nobody asked"];
    const looking = afterBooking(system, async () => {
      whileAsked = await findEverywhere(db, email);
    });
    const request = makeBooking(making, looking, wanted);
    await untilSomeoneWaits(db);
    await commit();
    assert.equal((await request).kind, expected);
    assert.deepEqual(whileAsked, expected === "confirmed" ? [] : ["nobody asked"]);
    assert.equal(await countAppointments(owner), expected === "confirmed" ? 1 : 0);
  }
});

test("a booking that is settled while its organization is deleted leaves nothing behind", async () => {
  const { owner, system, wanted, email } = await makeSetting();
  const deleting = await db.startTransaction().execute();
  const request = makeBooking(
    making,
    afterBooking(system, async () => {
      // The lock with which a deletion starts.
      await sql`select from visit_progress where organization_id = ${owner} for update`.execute(deleting);
    }),
    wanted,
  );
  await untilSomeoneWaits(db);
  assert.equal(await deleteOrganization(deleting as unknown as Db, owner), true);
  await deleting.commit().execute();
  requireBooked(await request);
  assert.deepEqual(await findEverywhere(db, email), []);
  assert.deepEqual(await findEverywhere(db, owner), []);
});

async function listReferences(owner: OrganizationId): Promise<string[]> {
  const rows = await db
    .selectFrom("booking_references")
    .select("reference")
    .where("organization_id", "=", owner)
    .execute();
  return rows.map(({ reference }) => reference);
}

test("a failed booking keeps its reference while its key is known, and for good only if an appointment may have it", async () => {
  const { owner, system, wanted } = await makeSetting();
  const { reference } = requireBooked(await makeBooking(making, system, wanted));
  const fail = async (idempotencyKey: string, book: SchedulingSystem["book"], kind = "failed") => {
    const failing: SchedulingSystem = { ...system, kind: "calcom", book };
    assert.equal((await makeBooking(QUICK, failing, { ...wanted, idempotencyKey })).kind, kind);
  };
  await fail("taken in the sandbox", system.book);
  await fail("held back", async () => unavailable());
  await fail("no connection", async () => unavailable({ ...NO_REPLY, failure: "connection_refused" }));
  await fail("taken", async () => ({ kind: "slot_taken" }));
  await fail("refused", async () => refused("invalid", { ...NO_REPLY, status: 400 }));
  const before = await listReferences(owner);
  await fail(
    "broken off, and not found afterwards",
    async () => ({ kind: "unknown", upstream: NO_REPLY }),
    "uncertain",
  );
  const [lost] = new Set(await listReferences(owner)).difference(new Set(before));
  assert.equal(before.length, 6);

  const now = clock.now();
  const { signal } = new AbortController();
  clock.set(new Date(now.getTime() + 30 * MINUTE_MS));
  await settleOverdue(deps, signal);
  assert.equal((await listReferences(owner)).length, 7);
  clock.set(new Date(now.getTime() + 2 * HOUR_MS + 1));
  await settleOverdue(deps, signal);
  clock.set(now);
  assert.deepEqual((await listReferences(owner)).sort(), [reference, lost].sort());
});

test(
  "a booking confirmed while the database is silent is stored within seconds of its return",
  onOneServer,
  async () => {
    const { owner, widgetId, system, wanted } = await makeSetting();
    const wire = await openSilentWire(url);
    const pool = openPool({ url: wire.url, size: 2, log: createLog("silent") });
    const onWire = { ...deps, db: openDb(pool) };
    const settlerOnWire = new Settler(onWire);
    after(async () => {
      await settlerOnWire.close();
      await pool.end();
    });
    const silencing = afterBooking(system, async () => wire.fallSilent());
    const { reference } = requireBooked(await makeBooking({ ...onWire, settler: settlerOnWire }, silencing, wanted));
    const listStored = () =>
      db.selectFrom("bookings").select("reference").where("organization_id", "=", owner).execute();
    assert.deepEqual(await listStored(), []);

    wire.mend();
    await until(async () => (await listStored()).length > 0, "it is stored");
    assert.deepEqual(await listStored(), [{ reference }]);
    const { totals } = await readAnalytics(db, owner, { days: 1, now: clock.now(), widgetId });
    assert.equal(totals.bookings, 1);
  },
);

for (const storesBookings of [true, false])
  test(`nothing leads from a settled booking to its visit, with Store bookings ${storesBookings ? "on" : "off"}`, async () => {
    const { system, wanted } = await makeSetting({ collectData: storesBookings });
    const visitId = crypto.randomUUID();
    const visited = { ...wanted, hit: { ...wanted.hit, visitId } };
    requireBooked(await makeBooking(making, system, visited));
    assert.equal((await makeBooking(making, system, { ...visited, idempotencyKey: "taken" })).kind, "failed");
    assert.deepEqual(await findEverywhere(db, visitId), ["public.funnel_visits"]);
    const { rows } = await sql<Record<string, Date>>`
      select created_at, asking_until, settled_at from pending_bookings
      where widget_id = ${visited.widgetId}`.execute(db);
    assert.equal(rows.length, 2);
    for (const instant of rows.flatMap(Object.values))
      assert.equal(instant.getTime() % HOUR_MS, 0, "hours, not instants");
  });

/** A database that writes the request, although its reply is lost. */
function losingResponse(): Db {
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (result.rows.some((row) => "isNew" in row)) throw new DatabaseUnavailable("The database did not respond");
      return result;
    },
  });
}

test("a request that was written unnoticed does not block its repetition", onOneServer, async () => {
  const { owner, system, wanted } = await makeSetting();
  await assert.rejects(makeBooking({ ...making, db: losingResponse() }, system, wanted), {
    name: "DatabaseUnavailable",
  });
  assert.equal((await listReferences(owner)).length, 1);
  const { reference } = requireBooked(await makeBooking(making, system, wanted));
  assert.deepEqual(await listReferences(owner), [reference]);
  assert.equal(await countAppointments(owner), 1);
});

test("a repeated key learns of a booking whose process was killed after the scheduling system confirmed it", async () => {
  const { owner, system, wanted } = await makeSetting();
  const killed = afterBooking(system, () => Promise.reject(new Error("killed")));
  await assert.rejects(makeBooking(making, killed, wanted), { message: "killed" });
  const [reference] = await listReferences(owner);
  assert.equal(requireBooked(await makeBooking(making, system, wanted)).reference, reference);
  const stored = await db.selectFrom("bookings").select("reference").where("organization_id", "=", owner).execute();
  assert.deepEqual(stored, [{ reference }]);
  assert.equal(await countAppointments(owner), 1);
});

/** A second request reads four times a second what has become of the first, and looks after a second in the sandbox. */
const READS_OF_A_SECOND = 5;

function countingReads(onRead: (count: number) => void): Db {
  let count = 0;
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (result.rows.some((row) => "asked_in" in row)) onRead(++count);
      return result;
    },
  });
}

test("a repeated key does not confirm an appointment that the first request is about to cancel", async () => {
  const { owner, system, wanted } = await makeSetting();
  // The second request would have looked by then, if it looked as early as in the sandbox.
  const { promise: hasLooked, resolve: look } = Promise.withResolvers<void>();
  const losing: SchedulingSystem = {
    ...system,
    kind: "microsoft-bookings",
    book: async (request) => {
      const outcome = await system.book(request);
      assert.ok(outcome.kind === "booked");
      await hasLooked;
      await system.cancel({ externalId: outcome.booked.externalId, reference: request.reference });
      return { kind: "slot_taken" };
    },
  };
  const second = { ...making, db: countingReads((count) => count > READS_OF_A_SECOND && look()) };
  const first = makeBooking(making, losing, wanted);
  await until(async () => (await listReferences(owner)).length > 0, "the first request has reserved a reference");
  const both = await Promise.all([first, makeBooking(second, losing, wanted).finally(look)]);
  assert.deepEqual(both, Array(2).fill({ kind: "failed", failure: "slot_taken" }));
  const stored = await db.selectFrom("bookings").select("reference").where("organization_id", "=", owner).execute();
  assert.deepEqual(stored, []);
});

test("a repeated key looks only once in a sandbox whose process was killed before it booked", async () => {
  const { owner, system, wanted } = await makeSetting();
  const killed: SchedulingSystem = { ...system, book: () => Promise.reject(new Error("killed")) };
  await assert.rejects(makeBooking(making, killed, wanted), { message: "killed" });
  let lookUps = 0;
  const counted: SchedulingSystem = {
    ...system,
    findByReference: async (lookup) => {
      lookUps += 1;
      return await system.findByReference(lookup);
    },
  };
  assert.deepEqual(await makeBooking(making, counted, wanted), { kind: "uncertain" });
  assert.equal(lookUps, 1);
  assert.equal(await countAppointments(owner), 0);
});

test("a visitor does not wait for more lookups in a sandbox whose database is down", async () => {
  const { system, wanted } = await makeSetting();
  let lookUps = 0;
  const upstream = { status: null, requestId: null, failure: "database" } as const;
  const down: SchedulingSystem = {
    ...system,
    book: async () => ({ kind: "unknown", upstream }),
    findByReference: async () => {
      lookUps += 1;
      return unavailable(upstream);
    },
  };
  assert.deepEqual(await makeBooking(making, down, wanted), { kind: "uncertain" });
  assert.equal(lookUps, 1);
});

test("the visitor gets the scheduling system's answer even if settling fails", async () => {
  const { owner, widgetId, system, wanted } = await makeSetting();
  const settle = (kind: string) => sql`alter table pending_bookings ${sql.raw(kind)}`.execute(db);
  const unwritable = () => settle("add constraint unwritable check (state = 'asking') not valid");
  requireBooked(await makeBooking(making, system, wanted));
  const taken = await makeBooking(making, afterBooking(system, unwritable), { ...wanted, idempotencyKey: "two" });
  await settle("drop constraint unwritable");
  assert.deepEqual(taken, { kind: "failed", failure: "slot_taken" });
  const countOpen = async () =>
    (await sql`select from pending_bookings where organization_id = ${owner} and state = 'asking'`.execute(db)).rows
      .length;
  assert.equal(await countOpen(), 1);
  await until(async () => (await countOpen()) === 0, "it is settled in a second try");
  const said = lines
    .map((line) => JSON.parse(line))
    .filter(({ name, organizationId }) => name.startsWith("booking.settle") && organizationId === owner);
  assert.deepEqual(
    said.map(({ name, widgetId: id }) => [name, id]),
    [
      ["booking.settle_failed", widgetId],
      ["booking.settled_late", widgetId],
    ],
  );
});
