import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestClock } from "../../../../test/support/app/app.ts";
import { makeOrganization, makeWidget } from "../../../../test/support/builders.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { listWeek, requireBooked, toRequest } from "../../../../test/support/scheduler/requests.ts";
import { createLog } from "../../lib/log/log.ts";
import { systemRandom } from "../../lib/secrets/random.ts";
import { cancelByManageToken, findByJoinToken, findByManageToken } from "./manage.ts";
import { deleteEndedAppointments } from "./queries.ts";
import { createSandbox } from "./sandbox.ts";

const database = await createTestDatabase();
const NEVER = new AbortController().signal;
const NOW = new Date("2026-11-01T12:00:00.000Z");
const BASE_URL = "https://book.example.com";

async function bookOnline() {
  const clock = createTestClock(NOW);
  const deps = { db: database.db, clock, random: systemRandom, log: createLog("silent"), baseUrl: BASE_URL };
  const organizationId = await makeOrganization(database.db, { timeZone: "Europe/Berlin" });
  const widgetId = await makeWidget(database.db, organizationId);
  const system = createSandbox(deps, { organizationId, widgetId });
  const [slot] = await listWeek(system, { now: NOW, serviceId: "online-meeting" });
  assert.ok(slot);
  const request = toRequest("online-meeting", slot);
  const booked = requireBooked(await system.book(request, NEVER));
  const toToken = (url: string | null) => new URL(url ?? "").pathname.split("/")[2] ?? "";
  const tokens = { manage: toToken(booked.manageUrl), join: toToken(booked.joinUrl) };
  return { deps, system, slot, request, booked, tokens, organizationId, widgetId };
}

test("the manage link finds its appointment, without anything about a person", async () => {
  const { deps, tokens, booked, slot, request, organizationId, widgetId } = await bookOnline();
  assert.equal(booked.manageUrl, `${BASE_URL}/manage/${tokens.manage}`);
  assert.equal(booked.joinUrl, `${BASE_URL}/meet/${tokens.join}`);
  const expected = {
    organizationId,
    widgetId,
    reference: request.reference,
    businessName: "Lindenhof",
    serviceName: "Online meeting (sample)",
    staffName: booked.staff[0]?.name,
    startAt: slot.startAt,
    endAt: slot.endAt,
    timeZone: "Europe/Berlin",
    canceledAt: null,
    joinUrl: booked.joinUrl,
  };
  assert.deepEqual(await findByManageToken(deps, tokens.manage), expected);
  assert.deepEqual(await findByJoinToken(deps, tokens.join), expected);
});

test("a token with one letter changed, or used on the other page, finds nothing", async () => {
  const { deps, tokens } = await bookOnline();
  for (let place = 0; place < tokens.manage.length; place++) {
    const letter = tokens.manage[place] === "A" ? "B" : "A";
    const changed = tokens.manage.slice(0, place) + letter + tokens.manage.slice(place + 1);
    assert.equal(await findByManageToken(deps, changed), null, `letter ${place}`);
  }
  assert.equal(await findByManageToken(deps, tokens.join), null);
  assert.equal(await findByJoinToken(deps, tokens.manage), null);
  assert.equal(await findByManageToken(deps, ""), null);
  assert.equal(await findByManageToken(deps, "../../etc/passwd"), null);
});

test("cancelling frees the time, once", async () => {
  const { deps, system, tokens, slot, request } = await bookOnline();
  const isFree = async () =>
    (await listWeek(system, { now: NOW, serviceId: "online-meeting" })).some(
      ({ startAt }) => startAt.getTime() === slot.startAt.getTime(),
    );
  assert.equal(await isFree(), false);
  assert.equal((await cancelByManageToken(deps, tokens.manage)).kind, "canceled");
  assert.equal((await cancelByManageToken(deps, tokens.manage)).kind, "already_canceled");
  assert.deepEqual((await findByManageToken(deps, tokens.manage))?.canceledAt, NOW);
  assert.deepEqual(await system.findByReference(request, NEVER), { kind: "absent" });
  assert.equal(await isFree(), true);
  requireBooked(await system.book(toRequest("online-meeting", slot), NEVER));
});

test("an appointment that has started is not cancelled, and the join link does not cancel", async () => {
  const { deps, tokens, slot } = await bookOnline();
  assert.deepEqual(await cancelByManageToken(deps, tokens.join), { kind: "not_found" });
  deps.clock.set(slot.startAt);
  assert.equal((await cancelByManageToken(deps, tokens.manage)).kind, "already_begun");
});

test("appointments that ended long ago are deleted with the time they took, and others are not", async () => {
  const [old, other] = [await bookOnline(), await bookOnline()];
  const options = { endedBefore: new Date("2027-01-01T00:00:00.000Z"), limit: 10 };
  assert.equal(await deleteEndedAppointments(database.db, old.organizationId, { ...options, endedBefore: NOW }), 0);
  assert.equal(await deleteEndedAppointments(database.db, old.organizationId, options), 1);
  const left = await database.pool.query("select from sandbox_busy where organization_id = $1", [old.organizationId]);
  assert.equal(left.rowCount, 0);
  assert.notEqual(await findByManageToken(other.deps, other.tokens.manage), null);
});
