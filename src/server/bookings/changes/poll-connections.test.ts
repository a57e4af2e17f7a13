import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeBooking, makeOrganization, makeWidget, NOON } from "../../../../test/support/builders.ts";
import { type CalcomServer, startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import {
  type CalendlyServer,
  startCalendlyServer,
} from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { silence } from "../../../../test/support/scheduler/silence.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { addConnection } from "../../scheduler/connections/connections.ts";
import type { Outbound } from "../../scheduler/outbound.ts";
import { pollConnections } from "./poll-connections.ts";

const { deps, clock } = await createOpenDeps();
const { db, scheduler } = deps;
const NEVER = new AbortController().signal;

type Server = CalcomServer | CalendlyServer;

async function start<Started extends Server>(starting: Promise<Started>): Promise<Started> {
  const server = await starting;
  after(() => server.stop());
  return server;
}

async function connect(owner: OrganizationId, server: Server): Promise<ConnectionId> {
  const kind = "throttle" in server ? "calcom" : "calendly";
  const added = await addConnection(deps, owner, { kind, name: "Practice", ...server.parts }, noAudit);
  assert.ok(added.kind === "added", added.kind);
  return added.id;
}

/** A connection with an appointment a month from now. */
async function connectCalendly(owner: OrganizationId): Promise<{ server: CalendlyServer; id: ConnectionId }> {
  const server = await start(startCalendlyServer(NOON));
  const id = await connect(owner, server);
  const startAt = new Date(NOON.getTime() + 30 * DAY_MS);
  const times = { start_at: startAt, end_at: new Date(startAt.getTime() + HOUR_MS) };
  await makeBooking(db, owner, { widgetId: await makeWidget(db, owner), asked_in: id, external_id: "e1", ...times });
  return { server, id };
}

function countPolls({ requests }: Server): number {
  const isPoll = ({ path, query }: (typeof requests)[number]) =>
    (path === "/scheduled_events" && "user" in query) || (path === "/v2/bookings" && "afterUpdatedAt" in query);
  return requests.filter(isPoll).length;
}

/** While one server is silent, polls until all are done. Returns how its requests ended. */
async function pollWhileSilent({ parts }: Server): Promise<string[]> {
  const { outbound, endings } = silence(scheduler.outbound, parts.settings.apiUrl);
  const opened = new RecentMap<ConnectionId, never>(1_000);
  await pollConnections({ ...deps, scheduler: { ...scheduler, opened, outbound } }, NEVER);
  return endings;
}

test("a connection whose system doesn't answer holds up none of the others, and all that are due are polled in one run", async () => {
  clock.set(NOON);
  const owner = await makeOrganization(db, { plan: "business" });
  const [silent, other] = [await start(startCalcomServer()), await start(startCalcomServer())];
  await connect(owner, silent);
  clock.set(new Date(NOON.getTime() + MINUTE_MS));
  const others = 25;
  for (let n = 0; n < others; n++) await connect(owner, other);
  clock.set(new Date(NOON.getTime() + DAY_MS));
  assert.deepEqual(await pollWhileSilent(silent), ["another answered"]);
  assert.equal(countPolls(other), others);
  await pollConnections(deps, NEVER);
  assert.equal(countPolls(other), others, "each once");
});

test("a system that answers none of its many connections doesn't hold up those of other systems", async () => {
  clock.set(new Date(NOON.getTime() + 2 * DAY_MS));
  const owner = await makeOrganization(db, { plan: "business" });
  const silent = await start(startCalcomServer());
  for (let n = 0; n < 12; n++) await connect(owner, silent);
  const { server: other } = await connectCalendly(owner);
  await db
    .updateTable("scheduling_connections")
    .set({ follows_changes: false })
    .where("organization_id", "!=", owner)
    .execute();
  clock.set(new Date(NOON.getTime() + 3 * DAY_MS));
  assert.deepEqual(new Set(await pollWhileSilent(silent)), new Set(["another answered"]));
  assert.equal(countPolls(other), 1);
});

test("Calendly is asked once a day while it sends notices, and again after a quarter of an hour if it doesn't answer", async () => {
  clock.set(new Date(NOON.getTime() + 4 * DAY_MS));
  const owner = await makeOrganization(db, { plan: "business" });
  const { server, id } = await connectCalendly(owner);
  await db.updateTable("scheduling_connections").set({ subscription_id: "s1" }).where("id", "=", id).execute();
  const pollAfter = async (ms: number) => {
    clock.set(new Date(clock.now().getTime() + ms));
    await pollConnections(deps, NEVER);
    return countPolls(server);
  };
  server.injectFault("GET /users", { reply: { status: 503 } });
  const counts: number[] = [];
  for (const ms of [0, 14 * MINUTE_MS, MINUTE_MS, 23 * HOUR_MS, HOUR_MS]) counts.push(await pollAfter(ms));
  assert.deepEqual(counts, [0, 0, 1, 1, 2]);
});

test("time that passes during a run makes no connection due again", async () => {
  clock.set(new Date(NOON.getTime() + 8 * DAY_MS));
  const owner = await makeOrganization(db, { plan: "business" });
  const servers: CalendlyServer[] = [];
  for (let n = 0; n < 8; n++) {
    const { server, id } = await connectCalendly(owner);
    await db.updateTable("scheduling_connections").set({ subscription_id: "s1" }).where("id", "=", id).execute();
    servers.push(server);
  }
  const enough = new AbortController();
  const send: Outbound["send"] = async (request, signal) => {
    clock.set(new Date(clock.now().getTime() + 1));
    if (servers.some((server) => countPolls(server) > 1)) enough.abort();
    return await scheduler.outbound.send(request, signal);
  };
  const opened = new RecentMap<ConnectionId, never>(1_000);
  const outbound = { ...scheduler.outbound, send };
  await pollConnections({ ...deps, scheduler: { ...scheduler, opened, outbound } }, enough.signal);
  assert.deepEqual(
    servers.map(countPolls),
    servers.map(() => 1),
  );
});

test("a clock that is set back keeps no connection waiting", async () => {
  clock.set(new Date(NOON.getTime() + 20 * DAY_MS));
  const owner = await makeOrganization(db, { plan: "business" });
  const { server } = await connectCalendly(owner);
  await pollConnections(deps, NEVER);
  clock.set(new Date(NOON.getTime() + 10 * DAY_MS));
  await pollConnections(deps, NEVER);
  await pollConnections(deps, NEVER);
  assert.equal(countPolls(server), 2);
});
