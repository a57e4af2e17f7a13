import assert from "node:assert/strict";
import { test } from "node:test";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import { createTestClock } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { testConformance } from "../../../../test/support/scheduler/conformance/conformance.ts";
import { listWeek, requireBooked, requireFound, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";
import { createLog } from "../../lib/log/log.ts";
import { systemRandom } from "../../lib/secrets/random.ts";
import type { BookOutcome, UnlimitedSystem } from "../scheduling-system.ts";
import { toManageUrl } from "./links.ts";
import { cancelByManageToken, moveByManageToken } from "./manage.ts";
import { findAppointment } from "./queries.ts";
import { createSandbox } from "./sandbox.ts";

const database = await createTestDatabase({ size: 25 });
const NEVER = new AbortController().signal;
/** A Sunday. */
const NOW = new Date("2026-11-01T12:00:00.000Z");
const MARKER = "zq7marker";

const SANDBOX_DEPS = {
  db: database.db,
  random: systemRandom,
  log: createLog("silent"),
  baseUrl: "https://book.example.com",
};

type Subject = { system: UnlimitedSystem; owner: OrganizationId; widgetId: WidgetId };

async function openSandbox(options: { timeZone?: string; now?: Date } = {}): Promise<Subject> {
  const owner = await makeOrganization(
    database.db,
    options.timeZone === undefined ? {} : { timeZone: options.timeZone },
  );
  const widgetId = await makeWidget(database.db, owner);
  const deps = { ...SANDBOX_DEPS, clock: createTestClock(options.now ?? NOW) };
  return { system: createSandbox(deps, { organizationId: owner, widgetId }), owner, widgetId };
}

testConformance("the sandbox", async () => {
  const { system, owner, widgetId } = await openSandbox({ timeZone: "Europe/Berlin" });
  const deps = { ...SANDBOX_DEPS, clock: createTestClock(NOW) };
  const toToken = async (reference: Reference) => {
    const row = await findAppointment(database.db, owner, { widgetId, reference });
    assert.ok(row);
    return toManageUrl("", { widgetId, reference, secret: row.manage_secret }).slice("/manage/".length);
  };
  return {
    system,
    cancelThere: async (reference) => {
      assert.equal((await cancelByManageToken(deps, await toToken(reference))).kind, "canceled");
    },
    moveThere: async (reference, startAt) => {
      assert.equal((await moveByManageToken(deps, await toToken(reference), startAt)).kind, "moved");
    },
    now: NOW,
    services: {
      plain: "consultation",
      asking: "first-appointment",
      choosable: "consultation",
      online: "online-meeting",
      group: null,
      notOffered: [],
    },
    readArrived: null,
  };
});

test("a widget's sandbox starts with Monday to Friday, nine to five, in the organization's time zone", async () => {
  const { system } = await openSandbox({ timeZone: "America/New_York" });
  const slots = await listWeek(system, { now: NOW, serviceId: "consultation" });
  const local = slots.map(({ startAt }) => startAt.toLocaleString("sv", { timeZone: "America/New_York" }));
  assert.equal(local[0], "2026-11-02 09:00:00");
  assert.equal(local.at(-1), "2026-11-06 16:30:00");
  assert.equal(local.length, 5 * 16);
});

test("nine o'clock is nine o'clock on both sides of a clock change", async () => {
  const friday = new Date("2026-10-23T00:00:00.000Z");
  const { system } = await openSandbox({ timeZone: "Europe/Berlin", now: friday });
  const slots = await listWeek(system, { now: friday, serviceId: "consultation" });
  const starts = slots.map(({ startAt }) => startAt.toISOString());
  assert.equal(starts[0], "2026-10-23T07:00:00.000Z");
  assert.equal(
    starts.find((start) => start > "2026-10-24"),
    "2026-10-26T08:00:00.000Z",
  );
});

test("when twenty visitors book one slot at once, one succeeds and nineteen are told it is taken", async () => {
  for (const serviceId of ["consultation", "online-meeting"]) {
    const { system, widgetId } = await openSandbox();
    const [slot] = await listWeek(system, { now: NOW, serviceId });
    assert.ok(slot);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => system.book(toRequest(serviceId, slot), NEVER)),
    );
    assert.deepEqual(countKinds(outcomes), { booked: 1, slot_taken: 19 });
    const { rowCount } = await database.pool.query("select from sandbox_appointments where widget_id = $1", [widgetId]);
    assert.equal(rowCount, 1);
  }
});

test("overlapping slots of two services are not both booked with the same person", async () => {
  const { system } = await openSandbox();
  const [meeting, appointment] = await Promise.all([
    listWeek(system, { now: NOW, serviceId: "online-meeting" }),
    listWeek(system, { now: NOW, serviceId: "first-appointment" }),
  ]);
  const [first] = appointment;
  assert.ok(first);
  const answers = [{ questionId: "topic", question: "What is your appointment about?", answer: "Teeth" }];
  const hour = requireBooked(await system.book({ ...toRequest("first-appointment", first), answers }, NEVER));
  assert.deepEqual(
    hour.staff.map(({ name }) => name),
    ["Robin Example"],
  );
  // Robin is busy until 10:15, including the fifteen minutes after; Sam takes the meetings meanwhile.
  for (const slot of meeting.slice(0, 3)) {
    const booked = requireBooked(await system.book(toRequest("online-meeting", slot), NEVER));
    assert.deepEqual(
      booked.staff.map(({ name }) => name),
      ["Sam Example"],
    );
  }
});

test("a buffer keeps the time after an appointment free", async () => {
  const { system } = await openSandbox();
  const [first] = await listWeek(system, { now: NOW, serviceId: "first-appointment" });
  assert.ok(first);
  const answers = [{ questionId: "topic", question: "What is your appointment about?", answer: "Teeth" }];
  requireBooked(await system.book({ ...toRequest("first-appointment", first), answers }, NEVER));
  const [next] = await listWeek(system, { now: NOW, serviceId: "first-appointment" });
  assert.equal(next?.startAt.getTime(), first.startAt.getTime() + 90 * MINUTE_MS);
});

test("nothing is offered within the next hour, or beyond sixty days", async () => {
  const monday = new Date("2026-11-02T10:00:00.000Z");
  const { system } = await openSandbox({ now: monday });
  const [first] = await listWeek(system, { now: monday, serviceId: "consultation" });
  assert.equal(first?.startAt.toISOString(), "2026-11-02T11:00:00.000Z");
  const far = { from: new Date("2026-12-20T00:00:00.000Z"), to: new Date("2027-01-19T00:00:00.000Z") };
  const slots = requireFound(await system.listSlots({ serviceId: "consultation", staffId: null, ...far }, NEVER));
  assert.equal(slots.at(-1)?.startAt.toISOString(), "2027-01-01T09:30:00.000Z");
});

test("the fully booked service has no available times", async () => {
  const { system } = await openSandbox();
  assert.deepEqual(await listWeek(system, { now: NOW, serviceId: "fully-booked" }), []);
});

test("a required question without an answer is refused", async () => {
  const { system } = await openSandbox();
  const [slot] = await listWeek(system, { now: NOW, serviceId: "first-appointment" });
  assert.ok(slot);
  const outcome = await system.book(toRequest("first-appointment", slot), NEVER);
  assert.deepEqual(outcome, { kind: "refused", reason: "invalid", upstream: null });
});

test("booking the same reference twice gives one booking", async () => {
  const { system } = await openSandbox();
  const [first, second] = await listWeek(system, { now: NOW, serviceId: "consultation" });
  assert.ok(first && second);
  const request = toRequest("consultation", first);
  const booked = requireBooked(await system.book(request, NEVER));
  assert.deepEqual(requireBooked(await system.book(request, NEVER)), booked);
  assert.deepEqual(requireBooked(await system.book({ ...request, startAt: second.startAt }, NEVER)), booked);
});

const NO_REPLY = { status: null, requestId: null, failure: "timeout" } as const;
const SWITCHES: readonly { email: string; outcome: BookOutcome; isMade: boolean }[] = [
  { email: "fail-slot@example.com", outcome: { kind: "slot_taken" }, isMade: false },
  {
    email: "Fail-500@example.com",
    outcome: { kind: "unavailable", retryAfterMs: null, upstream: { status: 500, requestId: null, failure: null } },
    isMade: false,
  },
  {
    email: "fail-429+anna@example.com",
    outcome: { kind: "unavailable", retryAfterMs: 30_000, upstream: { status: 429, requestId: null, failure: null } },
    isMade: false,
  },
  {
    email: "fail-timeout-created@example.com",
    outcome: { kind: "unknown", upstream: NO_REPLY },
    isMade: true,
  },
  {
    email: "fail-timeout-lost@example.com",
    outcome: { kind: "unknown", upstream: NO_REPLY },
    isMade: false,
  },
];
for (const { email, outcome, isMade } of SWITCHES) {
  test(`${email} makes the sandbox return ${outcome.kind}, with an appointment: ${isMade}`, async () => {
    const { system } = await openSandbox();
    const [slot] = await listWeek(system, { now: NOW, serviceId: "consultation" });
    assert.ok(slot);
    const request = toRequest("consultation", slot);
    const customer = { ...request.customer, email };
    assert.deepEqual(await system.book({ ...request, customer }, NEVER), outcome);
    assert.equal((await system.findByReference(request, NEVER)).kind, isMade ? "found" : "absent");
  });
}

test("slow-3s waits before it books, and books nothing for a caller that leaves meanwhile", async () => {
  const { system } = await openSandbox();
  const [slot] = await listWeek(system, { now: NOW, serviceId: "consultation" });
  assert.ok(slot);
  const request = toRequest("consultation", slot);
  const customer = { ...request.customer, email: "slow-3s@example.com" };
  const outcome = await system.book({ ...request, customer }, AbortSignal.timeout(50));
  assert.equal(outcome.kind, "unavailable");
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
});

test("nothing about a customer is stored in the database", async () => {
  const { system } = await openSandbox();
  const [slot] = await listWeek(system, { now: NOW, serviceId: "first-appointment" });
  assert.ok(slot);
  const request = toRequest("first-appointment", slot);
  const customer = {
    ...request.customer,
    name: `Name ${MARKER}`,
    email: `${MARKER}@example.com`,
    phone: `+49 ${MARKER}`,
    notes: `Notes ${MARKER}`,
  };
  const answers = [{ questionId: "topic", question: "What is your appointment about?", answer: `Answer ${MARKER}` }];
  requireBooked(await system.book({ ...request, customer, answers }, NEVER));
  const { rows } = await database.pool.query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = 'public'",
  );
  for (const { table_name } of rows) {
    const hits = await database.pool.query(`select from ${table_name} t where t::text ilike $1`, [`%${MARKER}%`]);
    assert.equal(hits.rowCount, 0, table_name);
  }
  const { rowCount } = await database.pool.query("select from sandbox_appointments where reference = $1", [
    request.reference satisfies Reference,
  ]);
  assert.equal(rowCount, 1);
});

test("an unavailable database is an unavailable system, not an error", async () => {
  const nowhere = openPool({ url: "postgres://127.0.0.1:1/nowhere", size: 1, log: createLog("silent") });
  const deps = {
    db: openDb(nowhere),
    clock: createTestClock(NOW),
    random: systemRandom,
    log: createLog("silent"),
    baseUrl: "https://book.example.com",
  };
  const { owner, widgetId } = await openSandbox();
  const system = createSandbox(deps, { organizationId: owner, widgetId });
  const upstream = { status: null, requestId: null, failure: "database" };
  const expected = { kind: "unavailable", retryAfterMs: null, upstream };
  assert.deepEqual(await system.listServices(NEVER), expected);
  const slot = { startAt: NOW, endAt: NOW, staffIds: [] };
  assert.deepEqual(await system.book(toRequest("consultation", slot), NEVER), expected);
  await nowhere.end();
});

function countKinds(outcomes: readonly BookOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
