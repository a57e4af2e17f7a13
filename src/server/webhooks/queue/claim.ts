import { MINUTE_MS } from "#contract/durations.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Home } from "../../db/citus/homes.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import { CAPS } from "./caps.ts";
import { chooseFairly, type DueLane, type InFlight, toLaneCap, toLaneRoom } from "./choose-fairly.ts";
import {
  beginClaim,
  type ClaimedDelivery,
  type Lease,
  leaseDeliveries,
  listDueDeliveries,
  type Queue,
  readQueueAcrossOrganizations,
  setRatedUntil,
  type WaitingLane,
} from "./claim-queries.ts";

// A worker leases what is due (this file), loads it (load.ts), sends it and reports the outcome (report-queries.ts). A lease
// whose worker is gone is reported by the worker that finds it (recovery-queries.ts). What must stay true:
//
// - Claims of a home run one at a time, over all workers, under one advisory lock. Caps and fairness therefore hold over all of
//   them. Plain PostgreSQL is one home; a cluster has one for each shard group, and an organization is in one of them. What a
//   process has just stored it may lease without a claim, under the same lock (`leaseStored`).
// - A claim reads and writes only delivery_queue and delivery_lanes, and reads the plans in organizations.
// - Its work is bounded by the number of lanes it looks at, not by how many deliveries wait in them.
// - A claim commits without waiting for the disk. If PostgreSQL crashes, the leases of the last half second may be lost: their
//   deliveries are sent again, and reports with the lost tokens change nothing. Reports do wait, and the disk gets both in order.
// - Rows are locked in one order everywhere: booking, queue, event, delivery, attempt, endpoint, lane.

type Claim = {
  readonly lease: Lease;
  /** Requests that the worker can start now. */
  readonly free: number;
  /** The endpoint id after which to look for lanes; empty at the start of a round. */
  readonly after: string;
};

type ClaimResult = {
  readonly deliveries: readonly ClaimedDelivery[];
  /** More is due in the lanes that it looked at than it could take: too few requests were free, or it read too little of a lane. */
  readonly hasMore: boolean;
  /** Where the next claim continues; empty when all lanes were seen. */
  readonly after: string;
  /** When the first of the deliveries seen that cannot be sent yet is due. */
  readonly nextDueAt: Date | null;
  /** Organizations that may have more due than was claimed: the next report of theirs makes room. */
  readonly heldBack: ReadonlySet<OrganizationId>;
  /** The same for their failing endpoints, which are in no hurry. */
  readonly heldBackByFailing: ReadonlySet<OrganizationId>;
};

/** Lanes that one claim looks at; the next claim continues after them. */
const LANES_PER_CLAIM = 500;

/**
 * A lease lasts four request timeouts, so this is a fifteenth of one: a second by default. Requests to a hung receiver take a
 * timeout each; with one more at once for every step, a hundred deliveries that are due together are sent within a minute.
 */
const OVERDUE_STEPS_PER_LEASE = 60;

/** `startClaim` is called once the advisory lock is held, so that a lease starts after the wait. */
export async function claimDeliveries({ writer, group }: Home, startClaim: () => Claim): Promise<ClaimResult> {
  return await inTransaction(writer, async (transaction) => {
    await beginClaim(transaction, group);
    const { lease, free, after } = startClaim();
    const queue = await readQueueAcrossOrganizations(transaction, {
      after,
      lanes: LANES_PER_CLAIM,
      tests: free,
      now: lease.at,
    });
    const { waiting, tests } = queue;
    const open = waiting.filter((lane) => lane.isOpen);
    const due = open.filter((lane) => lane.dueAt <= lease.at).map((lane) => withCap(lane, lease));
    const inFlight = toInFlight(queue.inFlight);
    const depth = toDepth(free, due.filter((lane) => toLaneRoom(lane, inFlight) > 0).length);
    const lanes = await readLanes(transaction, due, { inFlight, depth, now: lease.at });
    const { chosen, isShort } = chooseFairly(lanes, { tests, inFlight, free });
    const deliveries = chosen.size === 0 ? [] : inOrder(chosen, await leaseDeliveries(transaction, [...chosen], lease));
    await paceRated(transaction, lanes, { deliveries, now: lease.at });
    const claimed = new Set(deliveries.map(({ deliveryId }) => deliveryId));
    const held = findHeldBack(lanes, { claimed, inFlight, depth });
    const next = waiting.length < LANES_PER_CLAIM ? "" : (waiting.at(-1)?.endpointId ?? "");
    return {
      deliveries,
      hasMore: isShort || lanes.some((lane) => isCut(lane, { claimed, inFlight, depth })),
      heldBack: toOwners(held.filter((lane) => !lane.isFailing)),
      heldBackByFailing: toOwners(held.filter((lane) => lane.isFailing)),
      after: next,
      nextDueAt: earliest(open.flatMap(({ dueAt }) => (dueAt > lease.at ? [dueAt] : []))),
    };
  });
}

/** How many deliveries of each lane are read: together more than may be claimed, so that there is a choice. */
function toDepth(free: number, laneCount: number): number {
  return laneCount >= free ? 1 : Math.ceil((1.5 * free) / Math.max(1, laneCount));
}

/** The first of each lane are sent first: two at once to one endpoint would take two connections. */
function inOrder(chosen: ReadonlySet<DeliveryId>, leased: readonly ClaimedDelivery[]): ClaimedDelivery[] {
  const byId = new Map(leased.map((delivery) => [delivery.deliveryId, delivery]));
  return [...chosen].flatMap((id) => byId.get(id) ?? []);
}

type OpenLane = Extract<WaitingLane, { isOpen: true }>;
type CappedLane = OpenLane & { cap: number };

function withCap(lane: OpenLane, { at, until }: Lease): CappedLane {
  const stepMs = (until.getTime() - at.getTime()) / OVERDUE_STEPS_PER_LEASE;
  const cap = toLaneCap(lane, (at.getTime() - lane.dueAt.getTime()) / stepMs);
  return { ...lane, cap, requestsPerMinute: toRate(lane) };
}

function toRate({ isChat, requestsPerMinute }: OpenLane): number | null {
  if (!isChat) return requestsPerMinute;
  return Math.min(requestsPerMinute ?? CAPS.chatRequestsPerMinute, CAPS.chatRequestsPerMinute);
}

/** Nothing more is claimed from a lane with a rate limit until its limit allows what was claimed now. */
async function paceRated(
  transaction: Db,
  lanes: readonly DueLane[],
  { deliveries, now }: { deliveries: readonly ClaimedDelivery[]; now: Date },
): Promise<void> {
  const rated = lanes.flatMap(({ endpointId, requestsPerMinute }) => {
    if (requestsPerMinute === null) return [];
    const count = deliveries.filter((delivery) => delivery.endpointId === endpointId).length;
    return count === 0
      ? []
      : [{ endpointId, until: new Date(now.getTime() + Math.ceil((count * MINUTE_MS) / requestsPerMinute)) }];
  });
  if (rated.length > 0) await setRatedUntil(transaction, rated);
}

/**
 * The first deliveries of each due lane: as many as it has room for, at most `depth`. The first of each is known already; with
 * many lanes in a long queue, no more are needed.
 */
async function readLanes(
  transaction: Db,
  due: readonly CappedLane[],
  { inFlight, depth, now }: { inFlight: InFlight; depth: number; now: Date },
): Promise<DueLane[]> {
  const wanted = due.map((lane) => ({ ...lane, limit: Math.min(depth, toLaneRoom(lane, inFlight)) }));
  const deep = wanted.filter(({ limit }) => limit > 1);
  const byEndpoint = Map.groupBy(await listDueDeliveries(transaction, deep, now), (row) => row.endpointId);
  return wanted.map(({ limit, ...lane }) => {
    if (limit > 1) return { ...lane, due: byEndpoint.get(lane.endpointId) ?? [] };
    return { ...lane, due: limit === 1 ? [{ deliveryId: lane.firstId, dueAt: lane.firstDueAt }] : [] };
  });
}

function toInFlight(rows: Queue["inFlight"]): InFlight {
  const byEndpoint = new Map<EndpointId, number>();
  const byOrganization = new Map<OrganizationId, number>();
  let toFailing = 0;
  let toUnanswering = 0;
  for (const { endpointId, organizationId, requests, isFailing, isAnswering } of rows) {
    byEndpoint.set(endpointId, requests);
    byOrganization.set(organizationId, (byOrganization.get(organizationId) ?? 0) + requests);
    if (isFailing) toFailing += requests;
    if (!isAnswering) toUnanswering += requests;
  }
  return { byEndpoint, byOrganization, toFailing, toUnanswering };
}

type Outcome = { readonly claimed: ReadonlySet<DeliveryId>; readonly inFlight: InFlight; readonly depth: number };

/** Whether all that was read of it is claimed, and it has room for more. */
function isCut(lane: DueLane, { claimed, inFlight, depth }: Outcome): boolean {
  const isAllClaimed = lane.due.every(({ deliveryId }) => claimed.has(deliveryId));
  return isAllClaimed && lane.due.length === depth && depth < toLaneRoom(lane, inFlight);
}

/** Lanes that may have more due. In the others, everything due was claimed although there was room for more. */
function findHeldBack(lanes: readonly DueLane[], { claimed, inFlight, depth }: Outcome): DueLane[] {
  const isExhausted = (lane: DueLane) =>
    lane.due.length < Math.min(depth, toLaneRoom(lane, inFlight)) &&
    lane.due.every(({ deliveryId }) => claimed.has(deliveryId));
  return lanes.filter((lane) => !isExhausted(lane));
}

function toOwners(lanes: readonly DueLane[]): Set<OrganizationId> {
  return new Set(lanes.map((lane) => lane.organizationId));
}

function earliest(instants: readonly Date[]): Date | null {
  return instants.length === 0 ? null : new Date(Math.min(...instants.map((instant) => instant.getTime())));
}
