import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { recordHits } from "../../src/server/analytics/record/record.ts";
import type { ServiceDeps } from "../../src/server/create-deps.ts";
import { addEndpoint } from "../../src/server/webhooks/endpoints/endpoints.ts";
import { noAudit } from "../../test/support/app/no-audit.ts";
import { makeKey, makeOrganization, makeWidget } from "../../test/support/builders.ts";
import { makeHit, SEARCH_AD } from "../../test/support/funnel/hits.ts";
import { TYPICAL_API_JSON } from "./typical-json.ts";

// Many small organizations, each with a widget, a key, an endpoint, some bookings and a month of visits.

const BOOKINGS_EACH = 100;
const HISTORY_DAYS = 30;
const AT_ONCE = 4;
/** As long as a booking's. */
const BODY = Buffer.from(JSON.stringify({ type: "booking.created", data: "x".repeat(1_500) }));

export type SmallBusiness = { owner: OrganizationId; widgetId: WidgetId; key: string };

export async function makeSmallBusinesses(
  deps: ServiceDeps,
  { count, port }: { count: number; port: number },
): Promise<SmallBusiness[]> {
  const made: SmallBusiness[] = [];
  let next = 0;
  const makeSome = async () => {
    for (let n = next++; n < count; n = next++) made.push(await makeOne(deps, { n, port }));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, makeSome));
  return made;
}

async function makeOne(deps: ServiceDeps, { n, port }: { n: number; port: number }): Promise<SmallBusiness> {
  const owner = await makeOrganization(deps.db, { timeZone: "Europe/Berlin" });
  const widgetId = await makeWidget(deps.db, owner);
  const endpoint = { url: `http://127.0.0.1:${port}/${n}`, kind: "webhook", description: "" } as const;
  const added = await addEndpoint(deps, owner, endpoint, noAudit);
  if (added.kind !== "added") throw new Error(`The endpoint was refused: ${added.kind}`);
  const { key } = await makeKey(deps.db, owner);
  await insertBookings(deps, owner, { widgetId, first: n * BOOKINGS_EACH });
  const now = deps.clock.now();
  const visits = Array.from({ length: HISTORY_DAYS }, (_, day) =>
    makeHit({ widgetId, visit: day, at: new Date(now.getTime() - day * DAY_MS), class: SEARCH_AD }),
  );
  await recordHits(deps.db, visits, { now });
  return { owner, widgetId, key };
}

/** References count up in the 32-letter alphabet. */
async function insertBookings(
  { db }: ServiceDeps,
  owner: OrganizationId,
  { widgetId, first }: { widgetId: WidgetId; first: number },
): Promise<void> {
  await sql`
    insert into bookings (organization_id, reference, widget_id, status, created_at, start_at, end_at, time_zone, service_id,
      service_name, staff, customer_name, customer_email, answers, attribution, api_json)
    select ${owner}, 'SVC-' || (
        select string_agg(substr('23456789ABCDEFGHJKLMNPQRSTUVWXYZ', 1 + (((${first}::bigint + n) >> (5 * digit)) & 31)::integer, 1), '')
        from generate_series(5, 0, -1) digit
      ), ${widgetId}, 'confirmed', timestamptz '2026-11-01 12:00Z' - n * interval '31 minutes',
      timestamptz '2026-12-01 12:00Z', timestamptz '2026-12-01 12:30Z', 'Europe/Berlin', 'service-1', 'Check-up',
      '[{"id": "staff-1", "name": "Dr. Ada Winter"}]', 'Mara Quell ' || n, 'mara.' || n || '@example.com',
      '[{"questionId": "q1", "question": "Is this your first visit?", "answer": "Yes"}]',
      '{"source": "google", "medium": "cpc", "campaign": "autumn", "channel": "Paid Search", "touches": 2}', ${TYPICAL_API_JSON}
    from generate_series(1, ${BOOKINGS_EACH}::integer) n`.execute(db);
}

/** Deliveries that wait for each of the businesses, with the bytes of a booking. */
export async function queueDeliveries(
  deps: ServiceDeps,
  businesses: readonly SmallBusiness[],
  each: number,
): Promise<void> {
  const waiting = [...businesses];
  const queueSome = async () => {
    for (let business = waiting.pop(); business; business = waiting.pop()) await queueOfOne(deps, business.owner, each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, queueSome));
}

async function queueOfOne({ db, clock }: ServiceDeps, owner: OrganizationId, each: number): Promise<void> {
  const ids = Array.from({ length: each }, () => randomUUID());
  const now = clock.now();
  await sql`
    insert into webhook_events (organization_id, id, type, body, created_at)
    select ${owner}, 'evt_' || id, 'booking.created', ${BODY}, ${now}::timestamptz from unnest(${ids}::text[]) id`.execute(
    db,
  );
  await sql`
    insert into deliveries (organization_id, id, event_id, endpoint_id, state, attempt_count, retries_used, created_at)
    select organization_id, substr(webhook_events.id, 5)::uuid, webhook_events.id, endpoints.id, 'queued', 0, 0,
      webhook_events.created_at
    from webhook_events join endpoints using (organization_id)
    where organization_id = ${owner} and webhook_events.id = any(${ids.map((id) => `evt_${id}`)}::text[])`.execute(db);
  await sql`
    insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select queued.id, ${owner}, lane.endpoint_id, 'automatic', false, ${now}::timestamptz
    from delivery_lanes lane cross join unnest(${ids}::uuid[]) as queued (id)
    where lane.organization_id = ${owner}`.execute(db);
}
