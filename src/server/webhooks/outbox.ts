import { sql } from "kysely";
import { type DeliveryId, type Reference, WEBHOOK_EVENT_ID, type WebhookEventId } from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import type { WebhookEvent } from "#contract/webhook-event.ts";
import type { Db } from "../db/pool.ts";
import type { Log } from "../lib/log.ts";
import { type Random, randomId, randomUuid } from "../lib/random.ts";
import { type BookingFacts, toBookingCreatedEvent } from "./event.ts";
import { toSlackCard } from "./kinds/slack-card.ts";
import { toTeamsCard } from "./kinds/teams-card.ts";
import { insertDeliveries, insertWebhookEvent, listEndpointsForEvent, wakeWorkers } from "./outbox-queries.ts";

/** What fanning out needs to know; everything is in the caller's hands already. */
export type FanOut = { booking: BookingFacts; plan: Plan; now: Date };

type FanOutDeps = { random: Random; log: Log };

/**
 * Writes the event of a booking and a delivery per endpoint inside the caller's transaction, and says whether it is done.
 * Nothing that goes wrong here reaches the booking: it is undone to the savepoint and logged, and the booking is stored with
 * `lacks_event`, which a task finishes.
 */
export async function fanOutSafely(deps: FanOutDeps, transaction: Db, fanOutRequest: FanOut): Promise<boolean> {
  const owner = fanOutRequest.booking.organization.id;
  try {
    await sql`savepoint fan_out`.execute(transaction);
    await fanOut(deps, transaction, fanOutRequest);
    await sql`release savepoint fan_out`.execute(transaction);
    return true;
  } catch (error) {
    deps.log.error("booking.fan_out_failed", { organizationId: owner, error });
    await sql`rollback to savepoint fan_out`.execute(transaction);
    return false;
  }
}

export async function fanOut(deps: FanOutDeps, transaction: Db, { booking, plan, now }: FanOut): Promise<void> {
  if (!planIncludes(plan, "webhooks")) return;
  const owner = booking.organization.id;
  const endpoints = await listEndpointsForEvent(transaction, owner);
  if (endpoints.length === 0) return;

  const id = randomId<WebhookEventId>(deps.random, WEBHOOK_EVENT_ID);
  const event = toBookingCreatedEvent(booking, { id, created: now });
  await insertWebhookEvent(transaction, owner, {
    id,
    type: event.type,
    // The form was checked when the reference was made.
    reference: booking.reference as Reference,
    body: Buffer.from(JSON.stringify(event)),
    created_at: now,
  });
  await insertDeliveries(
    transaction,
    owner,
    endpoints.map((endpoint) => ({
      id: randomUuid(deps.random) as DeliveryId,
      eventId: id,
      endpointId: endpoint.id,
      card: toCard(endpoint.kind, event),
      isEnabled: endpoint.status === "enabled",
      now,
      trigger: "automatic",
    })),
  );
  await wakeWorkers(transaction);
}

/** A chat gets its card instead of the JSON event; the bytes are made here, once. */
export function toCard(kind: "webhook" | "teams" | "slack", event: WebhookEvent): Buffer | null {
  switch (kind) {
    case "webhook":
      return null;
    case "teams":
      return toTeamsCard(event);
    case "slack":
      return toSlackCard(event);
    default:
      return kind satisfies never;
  }
}
