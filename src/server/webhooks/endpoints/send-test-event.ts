import { MINUTE_MS } from "#contract/durations.ts";
import {
  type DeliveryId,
  type EndpointId,
  type OrganizationId,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
} from "#contract/ids.ts";
import { ENDPOINT_TESTS_PER_MINUTE_MAX } from "#contract/webhooks/endpoint.ts";
import { type EndpointTestEvent, WEBHOOK_API_VERSION } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inHome } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { randomId, randomUuid } from "../../lib/secrets/random.ts";
import { toCard } from "../outbox/outbox.ts";
import { insertEvents } from "../outbox/queries.ts";
import { wakeWorkers } from "../outbox/wake-workers.ts";
import type { EndpointDeps, Refusal } from "./endpoints.ts";
import { type EndpointRow, findEndpoint, takeTestPlace } from "./queries.ts";

/** Queues an `endpoint.test` event: one attempt, shown in the log, without effect on the endpoint's health. */
export async function sendTestEvent(
  deps: EndpointDeps & Pick<Deps, "log">,
  owner: { id: OrganizationId; name: string },
  endpointId: EndpointId,
  audit: (transaction: Db, endpoint: EndpointRow, deliveryId: DeliveryId) => Promise<void> = async () => undefined,
): Promise<{ kind: "queued"; deliveryId: DeliveryId } | Refusal> {
  const endpoint = await findEndpoint(deps.db, owner.id, endpointId);
  if (!endpoint) return { kind: "not_found" };
  if (endpoint.status === "disabled") return { kind: "disabled" };

  const now = deps.clock.now();
  const id = randomId<WebhookEventId>(deps.random, WEBHOOK_EVENT_ID);
  const deliveryId = randomUuid(deps.random) as DeliveryId;
  const event: EndpointTestEvent = {
    id,
    type: "endpoint.test",
    created: now.toISOString(),
    apiVersion: WEBHOOK_API_VERSION,
    data: { endpoint: { id: endpointId }, business: { id: owner.id, name: owner.name } },
  };
  const isQueued = await inHome(deps.db, owner.id, async (transaction) => {
    const since = new Date(now.getTime() - MINUTE_MS);
    if (!(await takeTestPlace(transaction, owner.id, { since, most: ENDPOINT_TESTS_PER_MINUTE_MAX }))) return false;
    await insertEvents(transaction, owner.id, {
      events: [
        {
          id,
          type: event.type,
          reference: null,
          widgetId: null,
          body: Buffer.from(JSON.stringify(event)),
          isTestBooking: false,
        },
      ],
      deliveries: [
        { id: deliveryId, eventId: id, endpointId, card: toCard(endpoint.kind, event, false), isEnabled: true },
      ],
      now,
    });
    await audit(transaction, endpoint, deliveryId);
    return true;
  });
  if (!isQueued) return { kind: "too_many_tests" };
  await wakeWorkers(deps, owner.id);
  return { kind: "queued", deliveryId };
}
