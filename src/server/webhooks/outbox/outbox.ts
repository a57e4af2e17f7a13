import { sql } from "kysely";
import type { EndpointKind } from "#contract/endpoint.ts";
import {
  type DeliveryId,
  type OrganizationId,
  type Reference,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
} from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import type { WebhookEvent } from "#contract/webhook-event.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { type Random, randomId, randomUuid } from "../../lib/random.ts";
import { toSlackCard } from "./cards/slack-card.ts";
import { toTeamsCard } from "./cards/teams-card.ts";
import { type BookingFacts, toBookingCreatedEvent } from "./event.ts";
import { insertEvent, listEndpointsForEvent } from "./queries.ts";

/** Nothing here waits longer for a lock, since a visitor waits for the booking. */
const LOCK_LIMIT_MS = 1_000;

/**
 * Runs the fan-out of a booking inside the caller's transaction, in a savepoint, and says whether it is done. Nothing that
 * goes wrong in it reaches the booking: it is undone and logged, the booking is stored with `lacks_event`, and a task
 * finishes it.
 */
export async function fanOutSafely(
  deps: Pick<Deps, "log" | "metrics">,
  transaction: Db,
  { owner, run }: { owner: OrganizationId; run: () => Promise<void> },
): Promise<boolean> {
  // Two statements at a time: each trip to the database costs the visitor time.
  await sql`savepoint fan_out; set local lock_timeout = ${sql.lit(LOCK_LIMIT_MS)}`.execute(transaction);
  try {
    await run();
    await sql`set local lock_timeout to default; release savepoint fan_out`.execute(transaction);
    return true;
  } catch (error) {
    deps.log.error("booking.fan_out_failed", { organizationId: owner, error });
    deps.metrics.fanOutFailures.inc();
    await sql`rollback to savepoint fan_out; release savepoint fan_out`.execute(transaction);
    return false;
  }
}

/** Writes the event of a booking and a delivery per endpoint, where the plan includes webhooks. */
export async function fanOut(
  deps: { random: Random },
  transaction: Db,
  { booking, plan, now }: { booking: BookingFacts; plan: Plan; now: Date },
): Promise<void> {
  if (!planIncludes(plan, "webhooks")) return;
  const owner = booking.organization.id;
  const endpoints = await listEndpointsForEvent(transaction, owner);
  if (endpoints.length === 0) return;

  const id = randomId<WebhookEventId>(deps.random, WEBHOOK_EVENT_ID);
  const event = toBookingCreatedEvent(booking, { id, created: now });
  await insertEvent(transaction, owner, {
    event: {
      id,
      type: event.type,
      // The form was checked when the reference was made.
      reference: booking.reference as Reference,
      body: Buffer.from(JSON.stringify(event)),
      now,
    },
    deliveries: endpoints.map((endpoint) => ({
      id: randomUuid(deps.random) as DeliveryId,
      endpointId: endpoint.id,
      card: toCard(endpoint.kind, event),
      isEnabled: endpoint.status === "enabled",
    })),
  });
}

/** A chat gets its card instead of the JSON event; the bytes are made here, once. */
export function toCard(kind: EndpointKind, event: WebhookEvent): Buffer | null {
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
