import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import type { BookingPage } from "#contract/bookings/booking.ts";
import { addConnection } from "../../src/server/scheduler/connections/connections.ts";
import { noAudit } from "../support/app/no-audit.ts";
import { bookThrough, findFreeTime } from "../support/bookings/book.ts";
import { makeKey, updateWidget } from "../support/builders.ts";
import { whileLocked } from "../support/database/while-locked.ts";
import { startServiceProcess } from "../support/programs/service-process.ts";
import { startCalcomServer } from "../support/scheduler/calcom/calcom-server.ts";
import { until } from "../support/until.ts";
import {
  createWebhookService,
  makeBusiness,
  makeEndpoint,
  startReplying,
  verify,
} from "../support/webhooks/webhook-service.ts";

const CUSTOMER = { name: "Mara Quell", email: "mara@example.com", notes: "Second floor" };

test("killed between the scheduling system's confirmation and our commit, a booking is stored once, counted and sent", async () => {
  const { deps, url } = await createWebhookService();
  const { db } = deps;
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying(() => ({}));
  const { secret } = await makeEndpoint(deps, business, { url: receiver.url });
  const { key } = await makeKey(db, business.owner);
  const settings = { DATABASE_URL: url, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" };
  const countAppointments = async () =>
    (await db.selectFrom("sandbox_appointments").select("reference").execute()).length;

  const first = await startServiceProcess(settings);
  const base = `http://127.0.0.1:${first.port}`;
  const time = await findFreeTime(base, business.widgetId);
  // Nothing can be stored meanwhile; the sandbox's own tables are free.
  const bookAndKill = async () => {
    const asked = bookThrough(base, business.widgetId, { time, customer: CUSTOMER }).catch(() => null);
    await until(async () => (await countAppointments()) === 1, "the sandbox has the appointment");
    await first.kill("SIGKILL");
    return await asked;
  };
  const response = await whileLocked(db, "bookings", bookAndKill, "share");
  assert.equal(response, null, "no response was sent");
  assert.equal((await db.selectFrom("bookings").select("reference").execute()).length, 0);

  // The caller had a minute, which is over.
  await sql`update pending_bookings set asking_until = to_timestamp(0)`.execute(db);
  const second = await startServiceProcess(settings);
  await until(() => receiver.requests.length > 0, "the event has arrived");
  const read = async <T>(path: string) =>
    (await (
      await fetch(`http://127.0.0.1:${second.port}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
    ).json()) as T;
  const { data } = await read<BookingPage>("/bookings");
  const [booking] = data;
  assert.ok(booking && data.length === 1, `${data.length} bookings are stored`);
  assert.deepEqual(
    [booking.customer.name, booking.customer.notes, booking.start],
    ["Mara Quell", "Second floor", time.start],
  );
  const { totals } = await read<{ totals: { bookings: number; failed: number } }>("/analytics");
  assert.deepEqual([totals.bookings, totals.failed, await countAppointments()], [1, 0, 1]);
  await second.kill("SIGTERM");
  const [request, ...others] = receiver.requests;
  assert.ok(request && others.length === 0, `${receiver.requests.length} requests have arrived`);
  verify(request, secret, new Date());
  assert.equal(JSON.parse(request.body.toString()).data.booking.reference, booking.reference);
});

test("killed while a slow system is booking, the booking stays uncertain until it is found, and is then stored and sent once", async () => {
  const { deps, url } = await createWebhookService();
  const { db } = deps;
  const business = await makeBusiness(deps, "business");
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  const server = await startCalcomServer();
  after(() => server.stop());
  const added = await addConnection(
    deps,
    business.owner,
    { kind: "calcom", name: "Practice", ...server.parts },
    noAudit,
  );
  assert.ok(added.kind === "added", JSON.stringify(added));
  await updateWidget(db, business.widgetId, { connection_id: added.id });
  const settings = { DATABASE_URL: url, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" };
  const isBooking = ({ method, path }: { method: string; path: string }) =>
    method === "POST" && path === "/v2/bookings";
  const countLookUps = () => server.requests.filter(({ query }) => "afterStart" in query).length;
  const lookNow = () => sql`update pending_bookings set asking_until = to_timestamp(0)`.execute(db);

  const first = await startServiceProcess(settings);
  const base = `http://127.0.0.1:${first.port}`;
  server.injectFault("POST /bookings", { reply: "hang" });
  const time = await findFreeTime(base, business.widgetId);
  const asked = bookThrough(base, business.widgetId, { time, customer: CUSTOMER }).catch(() => null);
  await until(() => server.requests.some(isBooking), "the system is asked");
  await first.kill("SIGKILL");
  assert.equal(await asked, null, "no response was sent");

  const second = await startServiceProcess(settings);
  await lookNow();
  await until(() => countLookUps() > 0, "the task has looked");
  const readStates = async () => (await sql`select state from pending_bookings`.execute(db)).rows;
  assert.deepEqual(await readStates(), [{ state: "asking" }]);

  const request = server.requests.find(isBooking) ?? assert.fail();
  const headers = new Headers();
  for (const name of ["authorization", "cal-api-version", "content-type"])
    headers.set(name, String(request.headers[name]));
  const address = `${server.parts.settings.apiUrl}/v2/bookings`;
  assert.equal((await fetch(address, { method: "POST", headers, body: request.body })).status, 201);
  await lookNow();
  await until(() => receiver.requests.length > 0, "the event has arrived");
  assert.deepEqual(await readStates(), [{ state: "confirmed" }]);
  assert.equal((await db.selectFrom("bookings").select("reference").execute()).length, 1);
  await second.kill("SIGTERM");
  assert.deepEqual([receiver.requests.length, server.bookings.length], [1, 1]);
});
