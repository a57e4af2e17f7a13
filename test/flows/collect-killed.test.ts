import assert from "node:assert/strict";
import { test } from "node:test";
import { makeOrganization, makeWidget } from "../support/builders.ts";
import { createTestDatabase } from "../support/database/database.ts";
import { createEventSender, type EventSender } from "../support/funnel/event-sender.ts";
import { countReached, expectReached, listRecorded } from "../support/funnel/recorded.ts";
import { startServiceProcess } from "../support/programs/service-process.ts";
import { until } from "../support/until.ts";

const KILLS = 3;
/** Events answered before the kill, however fast the machine is. */
const LOAD_EVENTS = 200;

test("killed under load and replayed, every event answered 204 is counted exactly once", async () => {
  const { db, url } = await createTestDatabase();
  const owner = await makeOrganization(db, { timeZone: "Asia/Kathmandu" });
  const widgets = [await makeWidget(db, owner), await makeWidget(db, owner)];
  const settings = { DATABASE_URL: url, ROLE: "web", RATE_LIMIT_EVENTS_PER_MINUTE: "0" };
  const sender = createEventSender(widgets, 0);

  for (let n = 1; n <= KILLS; n++) {
    const service = await startServiceProcess(settings);
    sender.port = service.port;
    await sender.sendWhile(untilResponding(sender, n * LOAD_EVENTS).then(() => service.kill("SIGKILL")));
    const recorded = await listRecorded(db);
    assert.deepEqual([...sender.acknowledged.difference(recorded)], [], "answered 204 and missing");
  }
  assert.ok((sender.statuses.get("failed") ?? 0) >= KILLS, "requests were under way when it was killed");

  const service = await startServiceProcess(settings);
  sender.port = service.port;
  await sender.replay();
  assert.deepEqual(await countReached(db), expectReached(sender.visits));
  await service.kill("SIGTERM");
});

test("stopped cleanly under load, the service answers what it accepted and loses nothing", async () => {
  const { db, url } = await createTestDatabase();
  const owner = await makeOrganization(db);
  const widgets = [await makeWidget(db, owner)];
  const service = await startServiceProcess({ DATABASE_URL: url, ROLE: "web", RATE_LIMIT_EVENTS_PER_MINUTE: "0" });
  const sender = createEventSender(widgets, service.port);
  await sender.sendWhile(untilResponding(sender, LOAD_EVENTS).then(() => service.kill("SIGTERM")));
  const recorded = await listRecorded(db);
  assert.deepEqual([...sender.acknowledged.difference(recorded)], [], "answered 204 and missing");
});

async function untilResponding(sender: EventSender, events: number): Promise<void> {
  await until(() => sender.acknowledged.size >= events, `${events} events were answered`);
}
