import type { OrganizationId } from "#contract/ids.ts";
import type { Home } from "../../db/citus/homes.ts";
import type { Deps } from "../../deps.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";
import type { ClaimedDelivery, Lease } from "../queue/claim-queries.ts";
import { type LoadedDelivery, loadDeliveries } from "../queue/load.ts";
import { dropLeases, returnLeases } from "../queue/recovery-queries.ts";
import { QueueVacuum, type ReportWriter } from "../queue/report-writer.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import { type DeliverDeps, type Delivered, deliver, logAttempt } from "./deliver.ts";

// Sends what this worker has leased: loads it, makes the requests side by side, and writes how they ended.

export type SenderDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics"> & {
  readonly webhooks: WebhookDeps;
};

type Listener = {
  /** A request has ended, or a lease: there may be room for another delivery. */
  onPlaceFree(): void;
  /** A report is written: the organization's caps may have room. */
  onReported(owner: OrganizationId): void;
  /** With a shortened schedule, the retry may be due before the loop looks by itself. */
  onRetrySoon(): void;
};

const RETRY_SOON_MS = 1_000;
/** After a fault of the database, deliveries are loaded again, or are due again, after this time. */
const LOAD_AGAIN_MS = 1_000;

export class Sender {
  readonly #deps: SenderDeps;
  readonly #deliverDeps: DeliverDeps;
  readonly #writer: ReportWriter;
  readonly #listener: Listener;
  readonly #vacuum: QueueVacuum;
  readonly #outage: OutageLog;
  readonly #places = new Places();
  /** Loads and attempts. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** The advisory lock that this process holds on the server (recovery.ts); null while it holds none. */
  #workerNumber: number | null = null;
  #isStopping = false;

  constructor(deps: SenderDeps, { home, writer, listener }: { home: Home; writer: ReportWriter; listener: Listener }) {
    const { send, secretBox, urlBox, headerBox, schedule } = deps.webhooks;
    this.#deps = deps;
    this.#deliverDeps = { clock: deps.clock, send: send.send, secretBox, urlBox, headerBox, schedule };
    this.#writer = writer;
    this.#listener = listener;
    this.#vacuum = new QueueVacuum(home, deps.log);
    this.#outage = new OutageLog(deps.log, { failed: "deliveries.load_failed", resumed: "deliveries.load_resumed" });
  }

  get free(): number {
    return this.#places.free;
  }

  /** Leases made from now on carry this number: others take them over as soon as its lock is gone. */
  setWorkerNumber(number: number | null): void {
    this.#workerNumber = number;
  }

  makeLease(): Lease {
    const { clock, random, webhooks } = this.#deps;
    const at = clock.now();
    const until = new Date(at.getTime() + webhooks.leaseMs);
    return { token: randomUuid(random), at, until, holder: this.#workerNumber };
  }

  /** Gives up on a database that does not answer. Requests in flight go on. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when every request in flight has ended and is reported. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.#vacuum.settled();
  }

  /** Resolves with the number of requests when they have been started; never rejects. */
  send(leased: readonly ClaimedDelivery[]): Promise<number> {
    this.#places.take(leased.length);
    const work = this.#start(leased).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
    return work;
  }

  async #start(leased: readonly ClaimedDelivery[]): Promise<number> {
    const loaded = await this.load(leased).catch((error: unknown) => {
      this.#outage.failed(error);
      return [];
    });
    const sent = new Set(loaded.map(({ deliveryId }) => deliveryId));
    for (const { deliveryId } of leased) {
      if (sent.has(deliveryId)) continue;
      this.#places.endRequest();
      this.#places.endLease();
    }
    if (sent.size < leased.length) this.#listener.onPlaceFree();
    for (const delivery of loaded) this.#begin(delivery);
    return loaded.length;
  }

  /**
   * Returns the leases of what it can't load, or whose endpoint was removed after the claim. While that fails too, it tries again
   * as long as the lease lasts: giving up would turn every leased delivery into an interrupted attempt.
   */
  async load(leased: readonly ClaimedDelivery[]): Promise<readonly LoadedDelivery[]> {
    const { db, clock } = this.#deps;
    for (;;) {
      const { deliveries, missing, unread, error: fault } = await loadDeliveries(db, leased);
      try {
        if (missing.length > 0) await dropLeases(db, missing);
        if (unread.length === 0) this.#outage.worked();
        else this.#outage.failed(fault);
        const { removed = [], sendable = [] } = Object.groupBy(deliveries, ({ isEndpointRemoved }) =>
          isEndpointRemoved ? "removed" : "sendable",
        );
        const returned = [...unread, ...removed];
        if (returned.length > 0) await returnLeases(db, returned, new Date(clock.now().getTime() + LOAD_AGAIN_MS));
        return sendable;
      } catch (error) {
        if (this.#isStopping || !leased.some((delivery) => this.#isLeaseFresh(delivery))) throw error;
        this.#outage.failed(error);
        await pause(LOAD_AGAIN_MS);
      }
    }
  }

  #begin(delivery: LoadedDelivery): void {
    const work = this.#attempt(delivery).finally(() => {
      this.#underWay.delete(work);
      this.#places.endLease();
      this.#vacuum.count();
      this.#listener.onPlaceFree();
      this.#listener.onReported(delivery.organizationId);
    });
    this.#underWay.add(work);
  }

  async #attempt(delivery: LoadedDelivery): Promise<void> {
    const { clock, log } = this.#deps;
    const { deliveryId } = delivery;
    try {
      const delivered = await this.#request(delivery);
      if (delivered === null) {
        log.warn("delivery.claimed_too_late", { deliveryId });
        return;
      }
      logAttempt(this.#deps, delivery, delivered);
      await this.#writer.write(delivered.report, delivery.lease.until);
      const { nextAttemptAt } = delivered.report;
      if (nextAttemptAt && nextAttemptAt.getTime() - clock.now().getTime() < RETRY_SOON_MS)
        this.#listener.onRetrySoon();
    } catch (error) {
      // A bug. When the lease expires, the attempt is reported as interrupted.
      log.error("delivery.attempt_failed", { deliveryId, error });
    }
  }

  /** Null without a request, if the lease is no longer fresh. */
  async #request(delivery: LoadedDelivery): Promise<Delivered | null> {
    try {
      return this.#isLeaseFresh(delivery) ? await deliver(this.#deliverDeps, delivery) : null;
    } finally {
      this.#places.endRequest();
      this.#listener.onPlaceFree();
    }
  }

  /** False after the machine slept or PostgreSQL took very long: another worker may be about to send the delivery. */
  #isLeaseFresh({ lease }: ClaimedDelivery): boolean {
    return lease.until.getTime() - this.#deps.clock.now().getTime() >= this.#deps.webhooks.leaseMs / 2;
  }
}

/** Requests in flight, and attempts that wait for their report: sending goes on while PostgreSQL writes reports. */
const LEASES_MAX = 2 * REQUESTS_AT_ONCE_MAX;

/** Counts the deliveries that a worker has leased, and says how many more it may. */
class Places {
  /** Deliveries whose attempt is not reported yet. */
  #leases = 0;
  /** How many leased deliveries have a request that is still running. */
  #unended = 0;

  /** Deliveries that are leased without a claim may be more than were free. */
  get free(): number {
    return Math.max(0, Math.min(REQUESTS_AT_ONCE_MAX - this.#unended, LEASES_MAX - this.#leases));
  }

  take(count: number): void {
    this.#leases += count;
    this.#unended += count;
  }

  endRequest(): void {
    this.#unended--;
  }

  /** The attempt is reported, or its lease has ended. */
  endLease(): void {
    this.#leases--;
  }
}
