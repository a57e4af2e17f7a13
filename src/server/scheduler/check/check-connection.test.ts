import assert from "node:assert/strict";
import { after, test } from "node:test";
import { MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization } from "../../../../test/support/builders.ts";
import { startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { startCalendlyServer } from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { startGraphServer } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { GRAPH_NOW } from "../../../../test/support/scheduler/graph/graph-world.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { replayCheck, toRequests } from "../../../../test/support/scheduler/replay-check.ts";
import { addConnection } from "../connections/connections.ts";
import { findConnection } from "../connections/queries.ts";
import { type ConnectionCheck, checkConnection } from "./check-connection.ts";

const { deps, clock } = await createOpenDeps();
clock.set(GRAPH_NOW);

const [graph, calcom, calendly] = [
  await startGraphServer(),
  await startCalcomServer(),
  await startCalendlyServer(GRAPH_NOW),
];
after(async () => {
  for (const server of [graph, calcom, calendly]) {
    await server.stop();
    assert.deepEqual(server.faults, []);
  }
});

const SYSTEMS = [
  {
    kind: "microsoft-bookings",
    server: graph,
    firstRead: "GET /services",
    slotRead: "GET /calendarView",
    count: () => graph.appointments.length,
    made: () => graph.requests,
  },
  {
    kind: "calcom",
    server: calcom,
    firstRead: "GET /me",
    slotRead: "GET /slots",
    count: () => calcom.bookings.filter(({ status }) => status === "accepted").length,
    made: () => calcom.requests,
  },
  {
    kind: "calendly",
    server: calendly,
    firstRead: "GET /users",
    slotRead: "GET /event_type_available_times",
    count: () => calendly.bookings.filter(({ status }) => status === "active").length,
    made: () => calendly.requests,
  },
] as const;

type Given = { settings: object; credentials: object };

async function connect(kind: (typeof SYSTEMS)[number]["kind"], parts: Given) {
  const owner = await makeOrganization(deps.db);
  const given = { settings: { ...parts.settings }, credentials: { ...parts.credentials } };
  const added = await addConnection(deps, owner, { kind, name: "Practice", ...given }, noAudit);
  assert.ok(added.kind === "added", JSON.stringify(added));
  return { owner, id: added.id };
}

async function check(owner: OrganizationId, id: ConnectionId, withBooking: boolean): Promise<ConnectionCheck> {
  const checked = await checkConnection(deps, owner, { id, withBooking, email: null });
  assert.ok("steps" in checked, JSON.stringify(checked));
  return checked;
}

for (const { kind, server, firstRead, slotRead, count, made } of SYSTEMS) {
  test(`a check of ${kind} reads services and available times, and books nothing`, async () => {
    const { owner, id } = await connect(kind, server.parts);
    const checked = await check(owner, id, false);
    assert.deepEqual(
      checked.steps.map(({ name, isOk }) => [name, isOk]),
      [
        ["account", true],
        ["services", true],
        ["free_times", true],
      ],
    );
    assert.equal(checked.verdict, "This connection can read services and available times. Nothing was booked.");
    assert.equal(count(), 0);
  });

  test(`a check of ${kind} with a booking leaves nothing behind, shows every request and no secret`, async () => {
    const { owner, id } = await connect(kind, server.parts);
    const before = made().length;
    const checked = await check(owner, id, true);
    assert.deepEqual(
      checked.steps.map(({ name, isOk }) => [name, isOk]),
      [
        ["account", true],
        ["services", true],
        ["free_times", true],
        ["book", true],
        ["find", true],
        ["cancel", true],
      ],
      JSON.stringify(checked.steps),
    );
    assert.equal(checked.verdict, "This connection works: a test appointment was booked, found and cancelled.");
    assert.equal(count(), 0);
    assert.equal(checked.exchanges.length, made().length - before);
    for (const secret of [...Object.values(server.parts.credentials), "token-1"])
      assert.equal(JSON.stringify(checked).includes(secret), false, secret);
  });

  test(`a saved check of ${kind} that took minutes can be replayed: the same requests, the same results`, async () => {
    const { owner, id } = await connect(kind, server.parts);
    let readCount = 0;
    const ticking = { now: () => new Date(GRAPH_NOW.getTime() + 5_000 * readCount++) };
    const wanted = { id, withBooking: true, email: null };
    const checked = await checkConnection({ ...deps, clock: ticking }, owner, wanted);
    assert.ok(readCount > 24);
    const saved = JSON.parse(JSON.stringify(checked)) as ConnectionCheck;
    const { check: replayed, faults } = await replayCheck(saved);
    assert.deepEqual(faults, []);
    assert.deepEqual(replayed.steps, saved.steps);
    assert.deepEqual(toRequests(replayed), toRequests(saved));
  });

  test(`a saved check of ${kind} that got no reply in time fails in the same way when it is replayed`, async () => {
    const { owner, id } = await connect(kind, server.parts);
    const limits = { ...deps.scheduler.limits, readMs: 500 };
    server.injectFault(slotRead, { reply: "hang" });
    const wanted = { id, withBooking: false, email: null };
    const checked = await checkConnection({ ...deps, scheduler: { ...deps.scheduler, limits } }, owner, wanted);
    const saved = JSON.parse(JSON.stringify(checked)) as ConnectionCheck;
    assert.match(saved.verdict, /\(timeout\)$/);
    assert.deepEqual((await replayCheck(saved)).check.steps, saved.steps);
  });

  test(`a check of ${kind} updates the connection's health`, async () => {
    const { owner, id } = await connect(kind, server.parts);
    const readHealth = async () => await findConnection(deps.db, owner, id);
    clock.set(new Date(GRAPH_NOW.getTime() + MINUTE_MS));
    server.injectFault(firstRead, { reply: { status: 403, json: {} } });
    assert.equal((await check(owner, id, false)).isWorking, false);
    assert.deepEqual(
      [(await readHealth())?.last_error, (await readHealth())?.last_error_at],
      ["credentials", clock.now()],
    );
    clock.set(new Date(GRAPH_NOW.getTime() + 2 * MINUTE_MS));
    assert.equal((await check(owner, id, false)).isWorking, true);
    assert.deepEqual((await readHealth())?.last_ok_at, clock.now());
    clock.set(GRAPH_NOW);
  });
}

test("a check that began minutes ago sends nothing beyond what the account has left now", async () => {
  const { owner, id } = await connect("calcom", calcom.parts);
  const budget = deps.scheduler.accountLimits.budgetOf({ kind: "calcom", ...calcom.parts });
  clock.set(new Date(GRAPH_NOW.getTime() + 2 * MINUTE_MS));
  while (budget.take() === 0);
  const before = calcom.requests.length;
  const began = { ...deps, clock: { now: () => GRAPH_NOW } };
  const checked = await checkConnection(began, owner, { id, withBooking: false, email: null });
  assert.deepEqual([checked.kind, calcom.requests.length - before], ["calcom", 0]);
  clock.set(GRAPH_NOW);
});

test("a check shows nothing of other people's appointments but their times", async () => {
  const { owner, id } = await connect("microsoft-bookings", graph.parts);
  const { exchanges } = await check(owner, id, true);
  const sent = exchanges.find(({ method, url }) => method === "POST" && url.endsWith("/appointments"));
  assert.ok(sent);
  const start = (sent.json as { startDateTime: object }).startDateTime;
  graph.appointments.push({
    id: "private",
    serviceId: "check-up",
    staffMemberIds: ["s-ben"],
    startDateTime: start as { dateTime: string; timeZone: string },
    endDateTime: (sent.json as { endDateTime: { dateTime: string; timeZone: string } }).endDateTime,
    serviceNotes: "Afraid of needles",
    additionalInformation: "Bring the X-ray",
    createdDateTime: GRAPH_NOW.toISOString(),
    filledAttendeesCount: 1,
    customers: [
      {
        name: "Mara Quell",
        emailAddress: "mara@example.com",
        timeZone: "UTC",
        notes: "Ring twice",
        customQuestionAnswers: [],
      },
    ],
  });
  const text = JSON.stringify(await check(owner, id, true));
  graph.appointments.splice(0);
  assert.ok(text.includes('"id":"private"'), "the appointment was read");
  for (const free of ["needles", "X-ray", "Mara", "mara@example.com", "Ring twice", "Ada Winter"])
    assert.equal(text.includes(free), false, free);
});

test("a test appointment whose confirmation was lost is found and cancelled", async () => {
  const { owner, id } = await connect("calcom", calcom.parts);
  calcom.injectFault("POST /bookings", { reply: "reset", creates: true });
  const { steps, verdict } = await check(owner, id, true);
  assert.deepEqual(
    steps.slice(-3).map(({ name, isOk }) => [name, isOk]),
    [
      ["book", false],
      ["find", true],
      ["cancel", true],
    ],
  );
  assert.equal(verdict, "The test failed. The scheduling system didn't confirm the booking.");
  assert.equal(calcom.bookings.at(-1)?.status, "cancelled");
});

test("a test appointment that was neither confirmed nor cancelled has to be looked up in the calendar", async () => {
  const { owner, id } = await connect("calcom", calcom.parts);
  calcom.injectFault("POST /bookings", { reply: "reset" });
  const { verdict, reference } = await check(owner, id, true);
  const advice = `didn't confirm the booking\\. Check its calendar for ${reference}, \\d+ \\w+ \\d{4} at `;
  assert.match(verdict, new RegExp(advice));
});

test("an account without a known time zone is told to set one", async () => {
  const { owner, id } = await connect("calcom", calcom.parts);
  const data = { username: "lindenhof", name: "Lindenhof Dental", timeZone: "Mars/Olympus" };
  calcom.injectFault("GET /me", { reply: { status: 200, json: { status: "success", data } } });
  const { verdict, isWorking } = await check(owner, id, false);
  const cause = "Signed in as “Lindenhof Dental”, which has no time zone that Bookflow knows.";
  assert.deepEqual([isWorking, verdict], [false, `The test failed. ${cause} Set one in the account.`]);
});

test("a check says what fails and what to do", async () => {
  const { owner, id } = await connect("calcom", calcom.parts);
  calcom.injectFault("GET /slots", { reply: { status: 403, json: {} } });
  const checked = await check(owner, id, true);
  assert.equal(checked.isWorking, false);
  assert.equal(
    checked.verdict,
    "The test failed. The API key's user isn't allowed to do this. Use a key from the user who owns the event types. (HTTP 403)",
  );
});

test("a key echoed in a system's answers does not appear in the check", async () => {
  const { owner, id } = await connect("calcom", calcom.parts);
  const { apiKey } = calcom.parts.credentials;
  const headers = { "X-Request-Id": apiKey };
  const json = { status: "error", error: { code: apiKey, message: `Key ${apiKey} is unknown`, [apiKey]: apiKey } };
  calcom.injectFault("GET /slots", { reply: { status: 400, json, headers } });
  const checked = await check(owner, id, false);
  assert.equal(checked.isWorking, false);
  assert.equal(checked.exchanges.at(-1)?.requestId, "***");
  assert.equal(JSON.stringify(checked).includes(apiKey), false);
});

test("another organization's connection cannot be checked", async () => {
  const { id } = await connect("calcom", calcom.parts);
  const stranger = await makeOrganization(deps.db);
  assert.deepEqual(await checkConnection(deps, stranger, { id, withBooking: false, email: null }), {
    kind: "not_found",
  });
});
