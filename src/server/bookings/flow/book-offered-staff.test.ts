import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { WidgetId } from "#contract/ids.ts";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import { createTestApp } from "../../../../test/support/app/app.ts";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { makeOrganization, makeWidget, updateWidget } from "../../../../test/support/builders.ts";
import { visitId } from "../../../../test/support/funnel/hits.ts";
import { type GraphServer, startGraphServer } from "../../../../test/support/scheduler/graph/graph-server.ts";
import { addConnection } from "../../scheduler/connections/connections.ts";

// A widget that offers certain people, in a scheduling system where two visitors can want the same time at once.

const { app, deps } = await createTestApp({ webhookAllowCidrs: ["127.0.0.0/8"] });
after(() => deps.scheduler.outbound.close());

const SERVICE = "choose";
const [ADA, BEN] = ["s-ada", "s-ben"];

async function makeClinic(staffIds: string[]): Promise<{ widgetId: WidgetId; server: GraphServer }> {
  const server = await startGraphServer();
  after(() => server.stop());
  const owner = await makeOrganization(deps.db);
  const widgetId = await makeWidget(deps.db, owner);
  const added = await addConnection(
    deps,
    owner,
    { kind: "microsoft-bookings", name: "Clinic", ...server.parts },
    noAudit,
  );
  assert.ok(added.kind === "added", JSON.stringify(added));
  const offers = JSON.stringify({ [added.id]: [{ serviceId: SERVICE, staffIds }] });
  await updateWidget(deps.db, widgetId, { connection_id: added.id, offers });
  return { widgetId, server };
}

async function listSlots(widgetId: WidgetId): Promise<FreeSlot[]> {
  const query = { service: SERVICE, from: "2026-11-02", to: "2026-11-09" };
  return (await app.inject({ url: `/embed-api/${widgetId}/slots`, query })).json().slots;
}

async function book(widgetId: WidgetId, visitor: number, start: string | undefined) {
  const customer = { name: "Mara Quell", email: `visitor${visitor}@example.com` };
  const payload = { visitId: visitId(visitor), serviceId: SERVICE, start, timeZone: "UTC", customer };
  return await app.inject({
    method: "POST",
    url: `/embed-api/${widgetId}/bookings`,
    headers: { "content-type": "application/json", "idempotency-key": `visitor ${visitor}` },
    payload: JSON.stringify(payload),
  });
}

const listStaff = ({ appointments }: GraphServer) =>
  appointments.flatMap(({ staffMemberIds }) => staffMemberIds).sort();

test("visitors who want one time at once get one offered person each, and the next one is shown everyone's times", async () => {
  const { widgetId, server } = await makeClinic([BEN, ADA]);
  const [slot] = await listSlots(widgetId);
  const both = await Promise.all([1, 2].map((visitor) => book(widgetId, visitor, slot?.start)));
  assert.deepEqual(
    both.map(({ statusCode }) => statusCode),
    [201, 201],
  );
  assert.deepEqual(listStaff(server), [ADA, BEN]);

  const third = await book(widgetId, 3, slot?.start);
  assert.deepEqual([third.statusCode, third.json().error.code], [409, "slot_taken"]);
  const fresh: FreeSlot[] = third.json().slots;
  assert.ok(fresh.length > 0 && fresh.every(({ start, staffIds }) => start !== slot?.start && staffIds.length === 2));
});

test("a person who is not offered is neither booked nor shown instead", async () => {
  const { widgetId, server } = await makeClinic([BEN]);
  const [slot] = await listSlots(widgetId);
  assert.equal((await book(widgetId, 1, slot?.start)).statusCode, 201);
  const second = await book(widgetId, 2, slot?.start);
  assert.equal(second.statusCode, 409);
  assert.deepEqual(listStaff(server), [BEN]);
  const shown = new Set(second.json().slots.flatMap(({ staffIds }: FreeSlot) => staffIds));
  assert.deepEqual([...shown], [BEN]);
});
