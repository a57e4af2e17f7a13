import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { after, type TestContext } from "node:test";
import type { Updateable } from "kysely";
import { HOUR_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { keepBooking, type NewBooking } from "../../../src/server/bookings/flow/keep-booking.ts";
import { takeReference } from "../../../src/server/bookings/flow/reference.ts";
import type { Config } from "../../../src/server/config.ts";
import type { ServiceDeps } from "../../../src/server/create-deps.ts";
import type { Home } from "../../../src/server/db/citus/homes.ts";
import { atHomes, listHomes } from "../../../src/server/db/home.ts";
import { inHome } from "../../../src/server/db/statements/transactions.ts";
import type { EndpointsTable } from "../../../src/server/db/tables/webhook-tables.ts";
import { systemRandom } from "../../../src/server/lib/secrets/random.ts";
import { POLL_MS } from "../../../src/server/webhooks/delivery/claim-loop.ts";
import { DeliveryLoop } from "../../../src/server/webhooks/delivery/loop.ts";
import { addEndpoint } from "../../../src/server/webhooks/endpoints/endpoints.ts";
import type { EndpointSettings } from "../../../src/server/webhooks/endpoints/settings.ts";
import { wakeWorkers } from "../../../src/server/webhooks/outbox/wake-workers.ts";
import { writeLane } from "../../../src/server/webhooks/queue/lanes.ts";
import { createWebhookDeps } from "../../../src/server/webhooks/webhook-deps.ts";
import { createTestApp, TEST_SECRET_KEY, type TestApp } from "../app/app.ts";
import { noAudit } from "../app/no-audit.ts";
import { plainBooking } from "../app/read-api.ts";
import { makeOrganization, makeOrganizationId, makeWidget } from "../builders.ts";
import { type ReceivedRequest, respond, startReceiver, type TestReceiver } from "./receiver.ts";

// For tests: the service with webhooks on its own database, a stopped clock, and receivers on this machine.

/** Loopback only, no jitter, and the shortest schedule. */
export const QUICK = {
  webhookAllowCidrs: ["127.0.0.0/8"],
  webhookRetryJitter: 0,
  webhookTimeoutMs: 5_000,
} as const;

type WebhookService = TestApp & { loop: DeliveryLoop };

export async function createWebhookService(settings: Partial<Config> = {}): Promise<WebhookService> {
  const app = await createTestApp({ ...QUICK, webhookAllowCidrs: [...QUICK.webhookAllowCidrs], ...settings });
  return { ...app, loop: new DeliveryLoop(app.deps) };
}

/** Another worker's dependencies on the same database, with its own sockets. */
export function anotherWorker(deps: ServiceDeps, settings: Partial<Config> = {}): ServiceDeps {
  const config = { ...deps.config, ...settings };
  const { clock } = deps;
  return { ...deps, webhooks: createWebhookDeps({ config, secretKey: TEST_SECRET_KEY, clock, random: systemRandom }) };
}

/** Delivers everything that is due now, including what becomes due at this instant as a result. */
export async function deliverAll(loop: DeliveryLoop): Promise<void> {
  while ((await loop.goRound()) > 0) await loop.settled();
}

export function moveClock({ clock }: Pick<TestApp, "clock">, seconds: number): void {
  clock.set(new Date(clock.now().getTime() + seconds * 1_000));
}

export type Business = { owner: OrganizationId; widgetId: WidgetId; plan: Plan };

/** Where `makeBusiness` makes organizations: on a cluster in one shard group, because claims are fair within it. */
export async function findTestHome({ db }: Pick<ServiceDeps, "db">): Promise<Home> {
  const [home] = await listHomes(db);
  assert.ok(home);
  return home;
}

/** A new organization's id, such that its rows are at this home. */
export async function makeIdAt({ db }: Pick<ServiceDeps, "db">, home: Home): Promise<OrganizationId> {
  for (;;) {
    const organizationId = makeOrganizationId();
    const [found] = await atHomes(db, [{ organizationId }], async (each) => each);
    if (found?.result === home) return organizationId;
  }
}

export async function makeBusiness(deps: Pick<ServiceDeps, "db">, plan: Plan = "pro", home?: Home): Promise<Business> {
  const id = await makeIdAt(deps, home ?? (await findTestHome(deps)));
  const owner = await makeOrganization(deps.db, { plan, id });
  return { owner, widgetId: await makeWidget(deps.db, owner), plan };
}

/** Unless it is new, the endpoint has answered before. */
export async function makeEndpoint(
  deps: ServiceDeps,
  { owner }: Business,
  options: { url: string; kind?: EndpointKind; settings?: EndpointSettings; isNew?: boolean },
): Promise<{ id: EndpointId; secret: string }> {
  const wanted = {
    url: options.url,
    kind: options.kind ?? "webhook",
    description: "",
    settings: options.settings ?? {},
  };
  const added = await addEndpoint(deps, owner, wanted, noAudit);
  assert.ok(added.kind === "added", JSON.stringify(added));
  if (!options.isNew) await changeEndpoints(deps, [added.id], { is_answering: true });
  return { id: added.id, secret: added.secret ?? "" };
}

/** Stores a booking as the booking flow does, and wakes the workers. */
export async function book(
  deps: ServiceDeps,
  { owner, widgetId }: Business,
  columns: Partial<NewBooking> = {},
): Promise<Reference> {
  const reference = await takeReference(deps.db, owner, deps.random);
  const stored = await inHome(deps.db, owner, (transaction) =>
    keepBooking(deps, transaction, { owner, booking: { ...plainBooking(reference, widgetId), ...columns } }),
  );
  await wakeWorkers(deps, owner, stored);
  return reference;
}

type Reply = { status?: number; headers?: Record<string, string>; body?: string };

/** A receiver that answers each request with what `reply` returns; null hangs. */
export async function startReplying(
  reply: (request: ReceivedRequest, count: number) => Reply | null | Promise<Reply | null>,
): Promise<TestReceiver> {
  let count = 0;
  const receiver = await startReceiver(async (socket, request) => {
    count += 1;
    const given = await reply(request, count);
    if (given && !socket.destroyed) respond(socket, given.status ?? 200, given.headers, given.body ?? "ok");
  });
  after(() => receiver.stop());
  return receiver;
}

export function headerOf(request: ReceivedRequest, name: string): string {
  const found = new RegExp(`^${name}: (.*)$`, "im").exec(request.head)?.[1];
  assert.ok(found !== undefined, `${name} is missing in ${request.head}`);
  return found;
}

export function pathOf(request: ReceivedRequest): string {
  return request.head.split(" ")[1] ?? "";
}

/** Verifies as the contract tells receivers to; returns `t` and the number of signatures. */
export function verify(request: ReceivedRequest, secret: string, now: Date): { t: number; signatures: number } {
  const parts = headerOf(request, "Service-Signature").split(",");
  const t = Number(parts.find((part) => part.startsWith("t="))?.slice(2));
  assert.ok(Math.abs(now.getTime() / 1_000 - t) <= 300, "the timestamp is fresh");
  const expected = createHmac("sha256", secret).update(`${t}.`).update(request.body).digest("hex");
  const signatures = parts.filter((part) => part.startsWith("v1=")).map((part) => part.slice(3));
  const isValid = signatures.some(
    (signature) =>
      signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected)),
  );
  assert.ok(isValid, "a signature verifies");
  return { t, signatures: signatures.length };
}

export async function readDeliveries({ db }: Pick<ServiceDeps, "db">, owner: OrganizationId) {
  return await db
    .selectFrom("deliveries")
    .selectAll()
    .where("organization_id", "=", owner)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
}

export async function readDelivery({ db }: Pick<ServiceDeps, "db">, owner: OrganizationId) {
  const [delivery, ...others] = await readDeliveries({ db }, owner);
  assert.ok(delivery && others.length === 0, `there are ${others.length + (delivery ? 1 : 0)} deliveries`);
  return delivery;
}

export async function readAttempts({ db }: Pick<ServiceDeps, "db">, owner: OrganizationId) {
  return await db
    .selectFrom("delivery_attempts")
    .selectAll()
    .where("organization_id", "=", owner)
    .orderBy("started_at")
    .orderBy("number")
    .execute();
}

export async function readEndpoint({ db }: Pick<ServiceDeps, "db">, id: EndpointId) {
  return await db.selectFrom("endpoints").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}

/** Changes the endpoints' rows as their health would, with the lanes that depend on them. */
export async function changeEndpoints(
  { db }: Pick<ServiceDeps, "db">,
  ids: readonly EndpointId[],
  change: Updateable<EndpointsTable>,
): Promise<void> {
  const rows = await db.updateTable("endpoints").set(change).where("id", "in", ids).returningAll().execute();
  for (const row of rows) await writeLane(db, row);
}

/** Until the end of the test, no worker starts a round just because time has passed: it must be woken. */
export function stopPolls(context: TestContext): void {
  const { setTimeout } = globalThis;
  const start = (run: () => void, ms?: number, ...args: []) => setTimeout(run, ms === POLL_MS ? HOUR_MS : ms, ...args);
  context.mock.method(globalThis, "setTimeout", start as typeof setTimeout);
}
