import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import { CAPS } from "./caps.ts";
import type { WaitingTest } from "./claim-queries.ts";

// Which of the due deliveries are sent next:
//
// - The first of every lane comes before the second of any, and organizations with few requests in flight before those
//   with many.
// - CAPS hold for endpoints, organizations, failing endpoints and endpoints that don't answer. Tests come first and wait for
//   nothing but the last of these.
// - An endpoint that doesn't answer, because it is new or its last attempt failed, gets one request at a time. All of them together
//   leave a share of the places to the others, however many they are.
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
  readonly isAnswering: boolean;
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
  readonly toUnanswering: number;
};

type Candidate = {
  readonly deliveryId: DeliveryId;
  readonly dueMs: number;
  readonly placeInLane: number;
  readonly isLaneIdle: boolean;
  readonly isFailing: boolean;
  readonly isAnswering: boolean;
};
/** With the number of requests its organization would have in flight. */
type Ranked = Candidate & { readonly organizationTotal: number };

/** How many more requests to the lane may start now. */
export function toLaneRoom(
  { endpointId, cap, isFailing, isAnswering, requestsPerMinute }: Omit<DueLane, "organizationId" | "due">,
  inFlight: InFlight,
): number {
  if (!isAnswering && inFlight.toUnanswering >= CAPS.toUnanswering) return 0;
  const room = Math.max(0, cap - (inFlight.byEndpoint.get(endpointId) ?? 0));
  const perClaim = isFailing ? CAPS.perOverdueClaim : Number.POSITIVE_INFINITY;
  const perSecond =
    requestsPerMinute === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(requestsPerMinute / 60));
  return Math.min(room, perClaim, perSecond);
}

/** `overdueSteps`: how long the lane's first delivery could have been sent. */
export function toLaneCap(
  lane: { isChat: boolean; isFailing: boolean; isAnswering: boolean; isPaused: boolean },
  overdueSteps: number,
): number {
  if (lane.isChat || lane.isPaused) return CAPS.perCarefulEndpoint;
  if (!lane.isFailing) return lane.isAnswering ? CAPS.perEndpoint : CAPS.perCarefulEndpoint;
  return Math.min(CAPS.perCarefulEndpoint + Math.floor(overdueSteps), CAPS.perOverdueEndpoint);
}

type Choice = {
  readonly chosen: ReadonlySet<DeliveryId>;
  /** With more free places, more could be sent now. */
  readonly isShort: boolean;
};

/** `free`: requests that the worker can start now. */
export function chooseFairly(
  lanes: readonly DueLane[],
  { tests, inFlight, free }: { tests: readonly WaitingTest[]; inFlight: InFlight; free: number },
): Choice {
  const ranked = [...Map.groupBy(lanes, (lane) => lane.organizationId)].flatMap(([owner, ofOwner]) =>
    rankWithinOrganization(
      ofOwner.flatMap((lane) => toCandidates(lane, inFlight)),
      inFlight.byOrganization.get(owner) ?? 0,
    ),
  );
  const chosen = new Set<DeliveryId>();
  let { toFailing, toUnanswering } = inFlight;
  let isShort = toUnanswering >= CAPS.toUnanswering && lanes.some(({ isAnswering }) => !isAnswering);
  const take = ({ deliveryId, isAnswering }: WaitingTest, hasPlace: boolean): boolean => {
    const isTaken = hasPlace && (isAnswering || toUnanswering < CAPS.toUnanswering);
    isShort ||= !isTaken;
    if (isTaken) chosen.add(deliveryId);
    if (isTaken && !isAnswering) toUnanswering++;
    return isTaken;
  };
  for (const test of tests) take(test, chosen.size < free);
  for (const candidate of ranked.sort(byTotalThenDue)) {
    if (chosen.has(candidate.deliveryId) || (candidate.isFailing && toFailing >= CAPS.toFailing)) continue;
    const stillFree = free - chosen.size;
    const share = mayGoBeyond(candidate) ? stillFree : Math.ceil(stillFree / 2);
    if (take(candidate, candidate.organizationTotal <= share) && candidate.isFailing) toFailing++;
  }
  return { chosen, isShort };
}

function toCandidates(lane: DueLane, inFlight: InFlight): Candidate[] {
  const { isFailing, isAnswering } = lane;
  const isLaneIdle = !inFlight.byEndpoint.has(lane.endpointId);
  return lane.due.slice(0, toLaneRoom(lane, inFlight)).map(({ deliveryId, dueAt }, index) => ({
    deliveryId,
    dueMs: dueAt.getTime(),
    placeInLane: index + 1,
    isLaneIdle,
    isFailing,
    isAnswering,
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
