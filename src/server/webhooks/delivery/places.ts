import type { EndpointId } from "#contract/ids.ts";
import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";

/** Requests in flight, and attempts that wait for their report: sending goes on while PostgreSQL writes reports. */
const LEASES_MAX = 2 * REQUESTS_AT_ONCE_MAX;

/** Counts the deliveries that a worker has leased, and says how many more it may. */
export class Places {
  /** Deliveries whose attempt is not reported yet. */
  readonly #leases = new Map<EndpointId, number>();
  #leaseCount = 0;
  /** How many leased deliveries have a request that is still running. */
  #unended = 0;

  get free(): number {
    return Math.min(REQUESTS_AT_ONCE_MAX - this.#unended, LEASES_MAX - this.#leaseCount);
  }

  isSendingTo(endpointId: EndpointId): boolean {
    return this.#leases.has(endpointId);
  }

  take(endpointId: EndpointId): void {
    this.#leases.set(endpointId, (this.#leases.get(endpointId) ?? 0) + 1);
    this.#leaseCount++;
    this.#unended++;
  }

  endRequest(): void {
    this.#unended--;
  }

  /** The attempt is reported, or its lease has ended. */
  endLease(endpointId: EndpointId): void {
    const left = (this.#leases.get(endpointId) ?? 1) - 1;
    if (left === 0) this.#leases.delete(endpointId);
    else this.#leases.set(endpointId, left);
    this.#leaseCount--;
  }
}
