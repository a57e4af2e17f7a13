import { sql } from "kysely";
import type { Attribution } from "#contract/analytics/attribution.ts";
import { NOT_SET } from "#contract/analytics/dimensions.ts";
import {
  type DeliveryId,
  type OrganizationId,
  type Reference,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
} from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import {
  ENDPOINT_FILTERS,
  type EndpointFilterName,
  type EndpointFilters,
  type EndpointKind,
} from "#contract/webhooks/endpoint.ts";
import type { CardEvent } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import { type Random, randomId, randomUuid } from "../../lib/secrets/random.ts";
import { toSlackCard } from "./cards/slack-card.ts";
import { toTeamsCard } from "./cards/teams-card.ts";
import { type BookingFacts, type BookingOccasion, toBookingEvent } from "./event.ts";
import { findBookingEventContext, insertEvents } from "./queries.ts";

// A visitor waits for the booking, so the fan-out never waits longer for a lock, and none of its statements takes longer.
const LOCK_LIMIT_MS = 1_000;
const STATEMENT_LIMIT_MS = 5_000;

/**
 * Runs a booking's fan-out in a savepoint of the caller's transaction and returns whether it succeeded. A failure never
 * reaches the booking: the fan-out is rolled back and logged, the booking is stored with `lacks_event`, and a task repeats it.
 * `run` must not catch errors of the database.
 */
export async function fanOutSafely(
  deps: Pick<Deps, "log" | "metrics">,
  transaction: Db,
  { owner, run }: { owner: OrganizationId; run: () => Promise<void> },
): Promise<boolean> {
  await sql`savepoint fan_out; set local lock_timeout = ${sql.lit(LOCK_LIMIT_MS)};
    set local statement_timeout = ${sql.lit(STATEMENT_LIMIT_MS)}`.execute(transaction);
  try {
    await run();
    await sql`set local lock_timeout to default; set local statement_timeout to default`.execute(transaction);
    return true;
  } catch (error) {
    // Without the savepoint, it is the transaction that failed.
    await sql`rollback to savepoint fan_out`.execute(transaction).catch(() => Promise.reject(error));
    deps.log.error("booking.event_failed", { organizationId: owner, error });
    deps.metrics.fanOutFailures.inc();
    return false;
  }
}

/**
 * Writes a booking's event and one delivery per endpoint if the plan includes webhooks. Without endpoints, the event is written
 * for plans with the read API, which lists it. Returns the deliveries to be sent.
 */
export async function fanOut(
  deps: { random: Random },
  transaction: Db,
  {
    owner,
    booking,
    occasion,
    now,
  }: { owner: OrganizationId; booking: BookingFacts; occasion: BookingOccasion; now: Date },
): Promise<readonly DeliveryId[]> {
  const { widgetId } = booking;
  const context = await findBookingEventContext(transaction, owner, { type: occasion.type, widgetId });
  const { plan } = context;
  const endpoints = context.endpoints.filter((endpoint) => matchesFilters(endpoint, booking));
  if (!isEventWanted(plan, endpoints)) return [];

  const id = randomId<WebhookEventId>(deps.random, WEBHOOK_EVENT_ID);
  const event = toBookingEvent(booking, occasion, { id, created: now, context });
  const deliveries = endpoints.map((endpoint) => ({
    id: randomUuid(deps.random) as DeliveryId,
    eventId: id,
    endpointId: endpoint.id,
    card: toCard(endpoint.kind, event, booking.isTest),
    isEnabled: endpoint.status === "enabled",
  }));
  await insertEvents(transaction, owner, {
    events: [
      {
        id,
        type: event.type,
        // The form was checked when the reference was made.
        reference: booking.reference as Reference,
        widgetId,
        body: Buffer.from(JSON.stringify(event)),
        isTestBooking: booking.isTest,
      },
    ],
    deliveries,
    now,
  });
  return deliveries.flatMap(({ id, isEnabled }) => (isEnabled ? [id] : []));
}

/** Whether anyone can receive the event: an endpoint, or a program that reads GET /api/v1/events. */
export function isEventWanted(plan: Plan, endpoints: readonly unknown[]): boolean {
  return planIncludes(plan, "webhooks") && (endpoints.length > 0 || planIncludes(plan, "readApi"));
}

/** Chat endpoints get a card instead of the JSON event. */
export function toCard(kind: EndpointKind, event: CardEvent, isTest: boolean): Buffer | null {
  switch (kind) {
    case "webhook":
      return null;
    case "teams":
      return toTeamsCard(event, isTest);
    case "slack":
      return toSlackCard(event, isTest);
    default:
      return kind satisfies never;
  }
}

/** What filters look at; a webhook's `data` has the same fields. */
type FilteredBooking = {
  service: { id: string; name: string };
  attribution: Pick<Attribution, "channel" | "source" | "medium" | "campaign">;
};

/** Whether an endpoint with these filters gets events about the booking. Letter case doesn't matter. */
export function matchesFilters(filters: EndpointFilters, booking: FilteredBooking): boolean {
  return ENDPOINT_FILTERS.every((name) => {
    const wanted = filters[name];
    if (wanted === null) return true;
    const texts = toTexts(name, booking).map((text) => text.toLowerCase());
    return wanted.some((value) => texts.includes(value.toLowerCase()));
  });
}

/** The ways to name a booking's value in a filter. */
function toTexts(name: EndpointFilterName, { service, attribution }: FilteredBooking): string[] {
  const { channel, source, medium, campaign } = attribution;
  switch (name) {
    case "services":
      return [service.id, service.name];
    case "channels":
      return [channel ?? NOT_SET];
    case "sources":
      // As in analytics, which show "google / cpc".
      return source === undefined ? [NOT_SET] : [source, `${source} / ${medium ?? NOT_SET}`];
    case "campaigns":
      return [campaign ?? NOT_SET];
    default:
      return name satisfies never;
  }
}
