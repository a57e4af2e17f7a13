import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { sql } from "kysely";
import { until } from "../../../../test/support/until.ts";
import {
  anotherWorker,
  book,
  createWebhookService,
  findTestHome,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { DeliveryLoop } from "../delivery/loop.ts";
import { claimDeliveries } from "./claim.ts";

// However many organizations have slow receivers, a newcomer finds a place.

const service = await createWebhookService({ webhookTimeoutMs: 20_000 });
const { deps } = service;

/** Holds every request until the test is over. */
async function startSlow() {
  const gate = Promise.withResolvers<void>();
  const receiver = await startReplying(async () => {
    await gate.promise;
    return {};
  });
  return { receiver, letGo: () => gate.resolve() };
}

async function fill(url: string, counts: { businesses: number; endpoints: number; bookings: number }) {
  const businesses = await Promise.all(Array.from({ length: counts.businesses }, () => makeBusiness(deps)));
  await Promise.all(
    businesses.map(async (business) => {
      for (let n = 0; n < counts.endpoints; n++) await makeEndpoint(deps, business, { url });
      for (let n = 0; n < counts.bookings; n++) await book(deps, business);
    }),
  );
  return businesses;
}

/** Starts what can be started; nothing ends meanwhile. */
async function beginAll(loop: DeliveryLoop): Promise<number> {
  let begun = 0;
  for (;;) {
    const more = await loop.goRound();
    if (more === 0) return begun;
    begun += more;
  }
}

/** Gives each test an empty queue. */
beforeEach(async () => {
  await sql`truncate delivery_queue, delivery_attempts, deliveries, webhook_events cascade`.execute(deps.db);
});

for (const counts of [
  { businesses: 1, endpoints: 7, bookings: 10, atOnce: [64, 64] },
  { businesses: 2, endpoints: 7, bookings: 10, atOnce: [128, 128] },
  { businesses: 4, endpoints: 7, bookings: 10, atOnce: [160, 200] },
  { businesses: 15, endpoints: 20, bookings: 2, atOnce: [220, 245] },
] as const) {
  const { businesses, endpoints, atOnce } = counts;
  test(`with ${businesses} with ${endpoints} slow receivers each, a newcomer's booking is sent at once`, async () => {
    const slow = await startSlow();
    const loop = new DeliveryLoop(anotherWorker(deps));
    await fill(slow.receiver.url, counts);
    try {
      const begun = await beginAll(loop);
      assert.ok(begun >= atOnce[0] && begun <= atOnce[1], `${begun} at once`);
      const quick = await startReplying(() => ({}));
      await fill(quick.url, { businesses: 1, endpoints: 3, bookings: 1 });
      assert.equal(await loop.goRound(), 3);
      await until(() => quick.requests.length === 3, "the newcomer's are sent");
    } finally {
      slow.letGo();
      await loop.settled();
    }
  });
}

test("an organization gets at most half of the free places, and more as places free up", async () => {
  const [business] = await fill("http://127.0.0.1:9/", { businesses: 1, endpoints: 2, bookings: 5 });
  const claim = async (free: number) => {
    const at = deps.clock.now();
    const until = new Date(at.getTime() + deps.webhooks.leaseMs);
    const lease = { token: randomUuid(deps.random), at, until, holder: null };
    const { deliveries, heldBack } = await claimDeliveries(await findTestHome(deps), () => ({
      lease,
      free,
      after: "",
    }));
    return { taken: deliveries.length, heldBack: [...heldBack] };
  };
  const more = [business?.owner];
  assert.deepEqual(await claim(9), { taken: 3, heldBack: more });
  assert.deepEqual(await claim(6), { taken: 0, heldBack: more });
  assert.deepEqual(await claim(11), { taken: 2, heldBack: more });
  assert.deepEqual(await claim(256), { taken: 5, heldBack: [] });
});
