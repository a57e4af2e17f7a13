import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DAY_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, updateWidget } from "../../../../test/support/builders.ts";
import { startCalcomServer } from "../../../../test/support/scheduler/calcom/calcom-server.ts";
import { startCalendlyServer } from "../../../../test/support/scheduler/calendly/calendly-server.ts";
import { startGraphServer } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { createOpenDeps } from "../../../../test/support/scheduler/open-deps.ts";
import { readWidgets } from "../../widgets/to-widget.ts";
import { addConnection, changeConnection, readBookingPages } from "./connections.ts";
import { updateConnection } from "./queries.ts";

const { deps, clock } = await createOpenDeps();
const config = { baseUrl: "https://book.example" };
const running = new AbortController().signal;

type Parts = { settings: Record<string, unknown>; credentials: Record<string, unknown> };

async function makeConnected(kind: ConnectionKind, parts: Parts) {
  const owner = await makeOrganization(deps.db);
  const added = await addConnection(deps, owner, { kind, name: "Calendar", ...parts }, noAudit);
  assert.ok(added.kind === "added", JSON.stringify(added));
  const widgetId = await makeWidget(deps.db, owner);
  await updateWidget(deps.db, widgetId, { connection_id: added.id });
  return { owner, widgetId, id: added.id };
}

async function readPages(owner: OrganizationId): Promise<string[]> {
  return (await readWidgets({ db: deps.db, config }, owner)).map(({ bookingUrl }) => bookingUrl);
}

/** As version 1.1 left it. */
async function forgetPage(owner: OrganizationId, id: ConnectionId): Promise<void> {
  await updateConnection(deps.db, owner, { id, change: { booking_url: null, booking_url_read_at: null } });
}

const CALCOM_PAGE = "https://cal.com/lindenhof";

for (const [kind, start, page] of [
  ["calcom", startCalcomServer, CALCOM_PAGE],
  ["calendly", () => startCalendlyServer(clock.now()), "https://calendly.com/lindenhof"],
  [
    "microsoft-bookings",
    startGraphServer,
    "https://outlook.office365.com/owa/calendar/lindenhof@example.com/bookings/",
  ],
] as const)
  test(`a widget connected to ${kind} links to its booking page there`, async () => {
    const server = await start();
    after(() => server.stop());
    const { owner, id, widgetId } = await makeConnected(kind, server.parts);
    assert.deepEqual(await readPages(owner), [page]);

    await forgetPage(owner, id);
    assert.deepEqual(await readPages(owner), [`https://book.example/w/${widgetId}`]);
    await readBookingPages(deps, running);
    assert.deepEqual(await readPages(owner), [page]);

    await updateWidget(deps.db, widgetId, { booking_url: "https://own.example/book" });
    assert.deepEqual(await readPages(owner), ["https://own.example/book"]);
  });

test("the page is read again once a day, and stays while the system doesn't answer", async () => {
  const server = await startCalcomServer();
  const { owner, id } = await makeConnected("calcom", server.parts);
  await updateConnection(deps.db, owner, { id, change: { booking_url: "https://cal.com/former" } });
  await readBookingPages(deps, running);
  assert.deepEqual(await readPages(owner), ["https://cal.com/former"]);
  clock.set(new Date(clock.now().getTime() + DAY_MS + 1));
  await readBookingPages(deps, running);
  assert.deepEqual(await readPages(owner), [CALCOM_PAGE]);

  await server.stop();
  clock.set(new Date(clock.now().getTime() + DAY_MS + 1));
  await readBookingPages(deps, running);
  assert.deepEqual(await readPages(owner), [CALCOM_PAGE]);
});

test("a connection that gets another account gets its page", async () => {
  const [first, second] = [await startCalcomServer(), await startCalcomServer()];
  after(() => Promise.all([first.stop(), second.stop()]));
  const { owner, id } = await makeConnected("calcom", first.parts);
  await updateConnection(deps.db, owner, { id, change: { booking_url: "https://cal.com/former" } });
  assert.equal((await changeConnection(deps, owner, { id, parts: second.parts })).kind, "changed");
  assert.deepEqual(await readPages(owner), [CALCOM_PAGE]);
});

test("a widget without a connection links to Bookflow's own page, whatever other widgets have", async () => {
  const server = await startCalcomServer();
  after(() => server.stop());
  const { owner, widgetId } = await makeConnected("calcom", server.parts);
  await updateWidget(deps.db, widgetId, { connection_id: null });
  assert.deepEqual(await readPages(owner), [`https://book.example/w/${widgetId}`]);
});
