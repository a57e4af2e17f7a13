import type { OrganizationId } from "#contract/ids.ts";

/** One look at all lanes, in as many claims as it takes. */
export type Pass = {
  /** The lane after which the next claim looks; empty once all lanes were seen. */
  after: string;
  /** More is due in the lanes seen than the worker could claim: it claims again when a request has ended. */
  hasMore: boolean;
  /** Some deliveries were claimed. */
  hasClaimed: boolean;
  /** When the first delivery is due that cannot be sent yet. */
  nextDueMs: number;
  /** Organizations with more to send: a report of one of their attempts makes room. */
  readonly heldBack: Set<OrganizationId>;
  /** The same for their failing endpoints. */
  readonly heldBackByFailing: Set<OrganizationId>;
};

export function beginPass(): Pass {
  return {
    after: "",
    hasMore: false,
    hasClaimed: false,
    nextDueMs: Number.POSITIVE_INFINITY,
    heldBack: new Set(),
    heldBackByFailing: new Set(),
  };
}
