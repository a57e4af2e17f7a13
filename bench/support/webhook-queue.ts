import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { ServiceDeps } from "../../src/server/create-deps.ts";
import { type Business, book, makeBusiness } from "./webhook-bookings.ts";

export async function makeBusinesses(
  deps: ServiceDeps,
  options: { port: number; count: number; endpoints: number },
): Promise<Business[]> {
  const businesses: Business[] = [];
  for (let n = 0; n < options.count; n++) {
    const urls = Array.from(
      { length: options.endpoints },
      (_, index) => `http://127.0.0.1:${options.port}/${n}/${index}`,
    );
    businesses.push(await makeBusiness(deps, urls));
  }
  return businesses;
}

/**
 * The queue after a long outage: the same event many times. A real outage takes hours, in which PostgreSQL gathers statistics.
 */
export async function fillQueue(deps: ServiceDeps, businesses: readonly Business[], eventsEach: number): Promise<void> {
  for (const business of businesses) await book(deps, business);
  await sql`with events as (
      insert into webhook_events (organization_id, id, type, body, created_at)
      select organization_id, 'evt_' || md5(id || n), type, body, created_at
      from (
        select distinct on (organization_id) organization_id, id, type, body, created_at from webhook_events
        where organization_id = any(${businesses.map(({ owner }) => owner)}::text[]) and reference is not null
        order by organization_id, created_at desc
      ) last, generate_series(1, ${eventsEach}::integer) n
      returning organization_id, id, created_at
    ), made as (
      insert into deliveries (organization_id, id, event_id, endpoint_id, state, attempt_count, retries_used, created_at)
      select events.organization_id, gen_random_uuid(), events.id, endpoints.id, 'queued', 0, 0, events.created_at
      from events join endpoints on endpoints.organization_id = events.organization_id
      returning organization_id, id, endpoint_id, created_at
    )
    insert into delivery_queue (delivery_id, organization_id, endpoint_id, trigger, is_test, due_at)
    select id, organization_id, endpoint_id, 'automatic', false, created_at from made`.execute(deps.longRunningDb);
  await sql`analyze webhook_events, deliveries, delivery_queue`.execute(deps.longRunningDb);
}

export async function countQueued({ db }: ServiceDeps): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from delivery_queue`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function waitUntilSent(deps: ServiceDeps): Promise<void> {
  while ((await countQueued(deps)) > 0) await sleep(100);
}

/** Turned off, so workers cancel its waiting deliveries, as after a customer's click. */
export async function switchEndpoints(
  deps: ServiceDeps,
  { owner }: Business,
  status: "enabled" | "disabled",
): Promise<void> {
  const reason = status === "disabled" ? "manual" : null;
  await sql`update endpoints set status = ${status}, disabled_reason = ${reason}, failed_attempts = 0,
    failing_since = null, exhausted_deliveries = 0 where organization_id = ${owner}`.execute(deps.db);
  await sql`update delivery_lanes set state = ${status === "enabled" ? "open" : "disabled"}, is_failing = false
    where organization_id = ${owner}`.execute(deps.db);
  if (status === "disabled") await waitUntilSent(deps);
}
