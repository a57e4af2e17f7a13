import { sql } from "kysely";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atEveryHome, table } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { measureInTime } from "../../lib/log/measure.ts";
import { CAPS, PLANS_WITH_WEBHOOKS } from "./caps.ts";

type QueueMeasure = {
  /** Deliveries that wait, whether due or not. */
  waiting: number;
  in_flight: number;
  /** How long the oldest due delivery has been due, whatever holds it back. */
  oldest_due_seconds: number;
  /**
   * How long a delivery that could be sent has waited: its receiver is healthy, not paused and has room for a request; or
   * its lease has expired and nobody has taken it over. Stays near zero while workers work, however badly receivers behave.
   */
  overdue_seconds: number;
};

type LaneMeasure = {
  waiting: number;
  in_flight: number;
  due_at: Date | null;
  lease_until: Date | null;
  paused_until: Date | null;
  last_attempt_at: Date | null;
  is_sendable: boolean;
};

export async function measureQueue(db: Db, now: Date): Promise<QueueMeasure> {
  const lanes: LaneMeasure[] = [];
  await atEveryHome(db, async ({ reader }) => {
    lanes.push(...(await measureLanesAcrossOrganizations(reader)));
  });
  const sendable = lanes.filter((lane) => lane.is_sendable && lane.due_at !== null && lane.due_at < now);
  const sendableSince = sendable.map((lane) =>
    // There was room for the next request after the receiver's last reply, its pause and its rate limit.
    Math.max(toMs(lane.due_at), toMs(lane.paused_until), toMs(lane.last_attempt_at)),
  );
  const leaseEnds = lanes.flatMap(({ lease_until }) => (lease_until === null ? [] : [lease_until.getTime()]));
  const dueSince = lanes.flatMap(({ due_at }) => (due_at === null ? [] : [due_at.getTime()]));
  return {
    waiting: lanes.reduce((sum, lane) => sum + lane.waiting, 0),
    in_flight: lanes.reduce((sum, lane) => sum + lane.in_flight, 0),
    oldest_due_seconds: secondsSince(dueSince, now),
    overdue_seconds: secondsSince([...sendableSince, ...leaseEnds], now),
  };
}

async function measureLanesAcrossOrganizations(home: Db): Promise<LaneMeasure[]> {
  const { rows } = await sql<LaneMeasure>`
    with lanes as (
      select endpoint_id, organization_id, count(*) filter (where lease_token is null) as waiting,
        count(*) filter (where lease_token is not null) as in_flight,
        min(due_at) filter (where lease_token is null) as due_at, min(lease_until) as lease_until
      from ${table("delivery_queue")} group by endpoint_id, organization_id
    )
    select queued.waiting, queued.in_flight, queued.due_at, queued.lease_until,
      greatest(lane.paused_until, lane.rated_until) as paused_until, endpoint.last_attempt_at,
      coalesce(lane.state = 'open' and not lane.is_failing
        and organization.plan = any(${PLANS_WITH_WEBHOOKS as Plan[]}::text[])
        and sum(queued.in_flight) over (partition by queued.organization_id) < ${CAPS.perOrganization}::integer
        and queued.in_flight < case when lane.is_chat or not lane.is_answering
          then ${CAPS.perCarefulEndpoint}::integer else ${CAPS.perEndpoint}::integer end, false) as is_sendable
    from lanes queued
    left join ${table("delivery_lanes", "lane")} on lane.endpoint_id = queued.endpoint_id
    left join ${table("endpoints", "endpoint")} on endpoint.organization_id = queued.organization_id and endpoint.id = queued.endpoint_id
    left join ${table("organizations", "organization")} on organization.id = queued.organization_id`.execute(home);
  return rows;
}

function toMs(instant: Date | null): number {
  return instant?.getTime() ?? Number.NEGATIVE_INFINITY;
}

/** Since the earliest of these; 0 when there is none or it is in the future. */
function secondsSince(instantsMs: readonly number[], now: Date): number {
  const earliestMs = instantsMs.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY);
  return Math.max(0, (now.getTime() - earliestMs) / 1_000);
}

/** If deliveries that could be sent have waited this long, no worker is working. */
export const OVERDUE_SECONDS_MAX = 120;

/** Measures the queue and sets its gauges; null and NaN if the database does not answer. */
export async function observeQueue(deps: Pick<Deps, "db" | "clock" | "metrics" | "log">): Promise<QueueMeasure | null> {
  const measuring = measureQueue(deps.db, deps.clock.now());
  const measure = await measureInTime(deps, { failed: "deliveries.measure_failed", measuring });
  const { metrics } = deps;
  metrics.deliveriesWaiting.set(measure?.waiting ?? Number.NaN);
  metrics.deliveriesInFlight.set(measure?.in_flight ?? Number.NaN);
  metrics.deliveriesOldestDueSeconds.set(measure?.oldest_due_seconds ?? Number.NaN);
  metrics.deliveriesOverdueSeconds.set(measure?.overdue_seconds ?? Number.NaN);
  return measure;
}
