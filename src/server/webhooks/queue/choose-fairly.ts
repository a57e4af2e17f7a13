import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import { CAPS } from "./caps.ts";

// Which of the due deliveries are sent next:
//
// - The first of every lane comes before the second of any, and organizations with few requests in flight before those
//   with many.
// - CAPS hold for endpoints, organizations and failing endpoints.
// - A failing webhook gets one request at a time, and one more for every step that its first delivery is overdue: a hung
//   receiver with a backlog must not stretch the schedule of each delivery. One claim starts at most
//   `perOverdueClaim` requests to it.
// - A lane with a rate limit gets what a second of it allows.
// - An organization gets at most half of the places that are still free, so there is always room for the next one.
// - A lane with nothing in flight may send one beyond the organization's cap and its half, as long as its organization
//   has no more in flight than places are still free. Slow neighbours therefore never silence an endpoint.

/** An endpoint whose deliveries may be claimed, with its first due deliveries in their order. */
export type DueLane = {
  readonly endpointId: EndpointId;
  readonly organizationId: OrganizationId;
  readonly isFailing: boolean;
  readonly requestsPerMinute: number | null;
  /** Requests that it may have in flight. */
  readonly cap: number;
  readonly due: readonly DueDelivery[];
};
export type DueDelivery = { readonly deliveryId: DeliveryId; readonly dueAt: Date };

export type InFlight = {
  readonly byEndpoint: ReadonlyMap<EndpointId, number>;
  readonly byOrganization: ReadonlyMap<OrganizationId, number>;
  readonly toFailing: number;
};

type Candidate = {
  readonly deliveryId: DeliveryId;
  readonly dueMs: number;
  readonly placeInLane: number;
  readonly isLaneIdle: boolean;
  readonly isFailing: boolean;
};
/** With the number of requests its organization would have in flight. */
type Ranked = Candidate & { readonly organizationTotal: number };

/** How many more requests to the lane may start now. */
export function toLaneRoom(
  { endpointId, cap, isFailing, requestsPerMinute }: Omit<DueLane, "organizationId" | "due">,
  inFlight: InFlight,
): number {
  const room = Math.max(0, cap - (inFlight.byEndpoint.get(endpointId) ?? 0));
  const perClaim = isFailing ? CAPS.perOverdueClaim : Number.POSITIVE_INFINITY;
  const perSecond =
    requestsPerMinute === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(requestsPerMinute / 60));
  return Math.min(room, perClaim, perSecond);
}

/** `overdueSteps`: how long the lane's first delivery could have been sent. */
export function toLaneCap(
  lane: { isChat: boolean; isFailing: boolean; isPaused: boolean },
  overdueSteps: number,
): number {
  if (lane.isChat || lane.isPaused) return CAPS.perCarefulEndpoint;
  if (!lane.isFailing) return CAPS.perEndpoint;
  return Math.min(CAPS.perCarefulEndpoint + Math.floor(overdueSteps), CAPS.perOverdueEndpoint);
}

type Choice = {
  readonly ids: DeliveryId[];
  /** With more free places, more could be sent now. */
  readonly isShort: boolean;
};

/** `free`: requests that the worker can start now. */
export function chooseFairly(
  lanes: readonly DueLane[],
  { inFlight, free }: { inFlight: InFlight; free: number },
): Choice {
  const ranked = [...Map.groupBy(lanes, (lane) => lane.organizationId)].flatMap(([owner, ofOwner]) =>
    rankWithinOrganization(
      ofOwner.flatMap((lane) => toCandidates(lane, inFlight)),
      inFlight.byOrganization.get(owner) ?? 0,
    ),
  );
  const ids: DeliveryId[] = [];
  let toFailing = inFlight.toFailing;
  let isShort = false;
  for (const { deliveryId, organizationTotal, isFailing, ...candidate } of ranked.sort(byTotalThenDue)) {
    if (isFailing && toFailing >= CAPS.toFailing) continue;
    const stillFree = free - ids.length;
    const share = mayGoBeyond(candidate) ? stillFree : Math.ceil(stillFree / 2);
    if (organizationTotal > share) {
      isShort = true;
      continue;
    }
    ids.push(deliveryId);
    if (isFailing) toFailing++;
  }
  return { ids, isShort };
}

function toCandidates(lane: DueLane, inFlight: InFlight): Candidate[] {
  const { isFailing } = lane;
  const isLaneIdle = !inFlight.byEndpoint.has(lane.endpointId);
  return lane.due.slice(0, toLaneRoom(lane, inFlight)).map(({ deliveryId, dueAt }, index) => ({
    deliveryId,
    dueMs: dueAt.getTime(),
    placeInLane: index + 1,
    isLaneIdle,
    isFailing,
  }));
}

function rankWithinOrganization(candidates: Candidate[], inFlight: number): Ranked[] {
  return candidates
    .sort((a, b) => a.placeInLane - b.placeInLane || Number(b.isLaneIdle) - Number(a.isLaneIdle) || a.dueMs - b.dueMs)
    .map((candidate, index) => ({ ...candidate, organizationTotal: inFlight + index + 1 }))
    .filter((ranked) => ranked.organizationTotal <= CAPS.perOrganization || mayGoBeyond(ranked));
}

function mayGoBeyond({ isLaneIdle, placeInLane }: Pick<Candidate, "isLaneIdle" | "placeInLane">): boolean {
  return isLaneIdle && placeInLane === 1;
}

function byTotalThenDue(a: Ranked, b: Ranked): number {
  return a.organizationTotal - b.organizationTotal || a.dueMs - b.dueMs;
}
