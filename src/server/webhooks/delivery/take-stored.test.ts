import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type DeliveryId, ENDPOINT_ID, type EndpointId } from "#contract/ids.ts";
import { until } from "../../../../test/support/until.ts";
import {
  book,
  createWebhookService,
  findTestHome,
  makeBusiness,
  makeEndpoint,
  startReplying,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { createLog } from "../../lib/log/log.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { EndpointCare } from "../health/health.ts";
import { wakeDirectly } from "../outbox/wake-workers.ts";
import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";
import { ReportWriter } from "../queue/report-writer.ts";
import { ClaimLoop } from "./claim-loop.ts";
import { Sender } from "./sender.ts";

// Deliveries that this process has stored, which its loop leases without a claim.

const { deps } = await createWebhookService();

/** Starts a loop that calls this before a lease without a claim, and books until it did. Everything booked arrives. */
async function bookUntilLeased(t: TestContext, onLease: () => void): Promise<{ lines: readonly string[] }> {
  const home = await findTestHome(deps);
  let leases = 0;
  /** A loop that is told of stored deliveries begins the transaction of their lease at once. */
  let isTelling = false;
  const writer = new Proxy(home.writer, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "transaction" && isTelling) {
        leases++;
        onLease();
      }
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => lines.push(line) });
  const loop = new ClaimLoop({ ...deps, log }, { ...home, writer });
  const tell = (stored: readonly DeliveryId[]) => {
    isTelling = true;
    const isTaken = loop.wake(stored);
    isTelling = false;
    return isTaken;
  };
  t.after(wakeDirectly(deps.db, (_, stored) => tell(stored)));
  loop.start();
  t.after(() => loop.stop());
  const business = await makeBusiness(deps);
  const receiver = await startReplying(() => ({}));
  await makeEndpoint(deps, business, { url: receiver.url });
  let booked = 0;
  await until(async () => {
    await book(deps, business);
    booked++;
    await until(() => receiver.requests.length === booked, "it has arrived");
    return leases > 0;
  }, "one was leased without a claim");
  return { lines };
}

test("what a resting loop is told of is leased without a claim, and sent", async (t) => {
  const { lines } = await bookUntilLeased(t, () => undefined);
  assert.ok(!lines.join("").includes("claim_failed"));
});

test("if that fails, the log says so, and a claim sends it", async (t) => {
  const { lines } = await bookUntilLeased(t, () => {
    throw new LoggableError("out of order");
  });
  assert.ok(lines.some((line) => line.includes("deliveries.claim_failed") && line.includes("out of order")));
});

test("a sender that got more than it had places for has none free until their requests have ended", async () => {
  const { owner } = await makeBusiness(deps);
  const [home, writer] = [await findTestHome(deps), new ReportWriter(deps, new EndpointCare(deps))];
  const listener = { onPlaceFree: () => undefined, onReported: () => undefined, onRetrySoon: () => undefined };
  const sender = new Sender(deps, { home, writer, listener });
  const toLeased = () => ({
    deliveryId: randomUUID() as DeliveryId,
    organizationId: owner,
    endpointId: randomId<EndpointId>(deps.random, ENDPOINT_ID),
    trigger: "automatic" as const,
    resumeAt: null,
    lease: sender.makeLease(),
  });
  const sending = sender.send(Array.from({ length: REQUESTS_AT_ONCE_MAX + 1 }, toLeased));
  assert.equal(sender.free, 0);
  await sending;
  assert.equal(sender.free, REQUESTS_AT_ONCE_MAX);
});
