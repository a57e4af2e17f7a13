import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { Alarm } from "../../lib/alarm.ts";
import { OutageLog } from "../../lib/outage-log.ts";
import { randomUuid } from "../../lib/random.ts";
import { EndpointCare } from "../health/endpoint-care.ts";
import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";
import { claimDeliveries } from "../queue/claim.ts";
import type { ClaimedDelivery, Lease } from "../queue/claim-queries.ts";
import { type LoadedDelivery, loadDeliveries } from "../queue/load.ts";
import { dropLeases, returnLeases } from "../queue/recovery-queries.ts";
import { ReportWriter } from "../queue/report-writer.ts";
import { QueueVacuum } from "../queue/vacuum.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import { type DeliverDeps, type Delivered, deliver } from "./deliver.ts";
import { logAttempt } from "./log-attempt.ts";
import { Recovery } from "./recovery.ts";

// The loop that sends what is due: it claims as many deliveries as it may have requests in flight, sends them side by side
// and writes how they ended. A round starts
//
// - when the loop is woken, because a booking was stored,
// - when requests have ended or were reported, and a delivery was waiting for that,
// - when the next retry is due,
// - every second, in case a notification was lost.
//
// No wake-up is lost. The alarm keeps one that comes while a round is running. A round that finds no free request, and a claim
// that counted an attempt whose report was written meanwhile, start another round themselves.
//
// Beside it, every second, the worker recovers what others left: leases whose worker is gone, and deliveries that must no longer
// be sent or were held back too long. Claims don't wait for that.
//
// Any number of loops may run in any number of processes. A loop that dies leaves its leases to the others.

const POLL_MS = 1_000;
/** A claim costs about the same for one delivery as for fifty: until this many requests are free, it waits a little. */
const CLAIM_WORTHWHILE = REQUESTS_AT_ONCE_MAX / 4;
const GATHER_MS = 5;
/** A failing endpoint's next request waits for a claim that comes anyway, so that claims for it don't delay others. */
const FAILING_GATHER_MS = 50;
/** After this long without a claim, it was the worker that held deliveries back. */
const CLAIM_GAP_MS_MAX = 10_000;
/** Half of the requests in flight: one half is sent while the other is claimed and reported. */
const CLAIM_MAX = REQUESTS_AT_ONCE_MAX / 2;

/**
 * Leases that a worker holds at once: its requests in flight, and attempts that ended and wait for their report. Sending goes on
 * while PostgreSQL writes reports.
 */
const LEASES_MAX = 2 * REQUESTS_AT_ONCE_MAX;

type LoopDeps = Pick<Deps, "db" | "patientDb" | "clock" | "random" | "log" | "metrics"> & {
  readonly webhooks: WebhookDeps;
};

/** One look at all lanes, in as many claims as it takes. */
type Pass = {
  /** The lane after which the next claim looks; empty once all lanes were seen. */
  after: string;
  /** More may be due than the last claim could take. */
  hasMore: boolean;
  /** When the first delivery is due that cannot be sent yet. */
  nextDueMs: number;
  /** Organizations with more to send: a report of one of their attempts makes room. */
  readonly heldBack: Set<OrganizationId>;
  /** The same for their failing endpoints. */
  readonly heldBackByFailing: Set<OrganizationId>;
};

export class DeliveryLoop {
  readonly #deps: LoopDeps;
  readonly #deliverDeps: DeliverDeps;
  readonly #writer: ReportWriter;
  readonly #vacuum: QueueVacuum;
  readonly #recovery: Recovery;
  readonly #alarm = new Alarm();
  readonly #recoveryAlarm = new Alarm();
  readonly #outage: OutageLog;
  readonly #loadOutage: OutageLog;
  /** Attempts that are not reported yet. */
  readonly #inFlight = new Set<Promise<void>>();
  /** Those of them whose request has not ended. */
  #requests = 0;
  /** The advisory lock that this process holds (worker-locks.ts); null while it holds none. */
  #workerNumber: number | null = null;
  #isStopping = false;
  #running: Promise<unknown> = Promise.resolve();
  #recoveredAtMs = Number.NEGATIVE_INFINITY;
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when claims have followed each other without a gap. */
  #claimingSinceMs = Number.NEGATIVE_INFINITY;
  #pass: Pass = beginPass();
  /** Organizations with a report since the last claim began: that claim may have counted their attempts as in flight. */
  readonly #reported = new Set<OrganizationId>();

  constructor(deps: LoopDeps) {
    const { send, secretBox, urlBox, headerBox, schedule } = deps.webhooks;
    this.#deps = deps;
    this.#deliverDeps = { clock: deps.clock, send: send.send, secretBox, urlBox, headerBox, schedule };
    this.#writer = new ReportWriter(deps, new EndpointCare(deps));
    this.#recovery = new Recovery(deps, {
      schedule,
      writer: this.#writer,
      makeLease: () => this.#makeLease(),
      load: (claimed) => this.#load(claimed),
    });
    this.#vacuum = new QueueVacuum(deps);
    this.#outage = new OutageLog(deps.log, { failed: "deliveries.claim_failed", resumed: "deliveries.claim_resumed" });
    this.#loadOutage = new OutageLog(deps.log, {
      failed: "deliveries.load_failed",
      resumed: "deliveries.load_resumed",
    });
  }

  start(): void {
    this.#running = Promise.all([this.#run(), this.#runRecovery()]);
  }

  /** Leases claimed from now on carry this number: others take them over as soon as its lock is gone. */
  setWorkerNumber(number: number | null): void {
    this.#workerNumber = number;
  }

  /** Starts a round now. */
  wake(): void {
    this.#alarm.wake();
  }

  /**
   * Claims nothing more, and resolves when the requests in flight have ended and are reported. Each ends by its timeout. A
   * process that cannot wait that long may exit; other workers take over its leases.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    this.#recoveryAlarm.wake();
    await this.#running;
    await this.settled();
  }

  /** Resolves when every request in flight has ended and is reported. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    await this.#vacuum.settled();
  }

  /** Recovers, claims and starts to send; returns how many requests were started. */
  async goRound(): Promise<number> {
    const nowMs = this.#deps.clock.now().getTime();
    // The absolute difference, because the clock may be set back.
    if (Math.abs(nowMs - this.#recoveredAtMs) >= POLL_MS) await this.#recover();
    return await this.#sendDue();
  }

  /** Never rejects. */
  async #recover(): Promise<void> {
    const now = this.#deps.clock.now();
    this.#recoveredAtMs = now.getTime();
    const isClaiming = now.getTime() - this.#claimedAtMs <= CLAIM_GAP_MS_MAX;
    await this.#recovery.recover({ now, claimingSinceMs: isClaiming ? this.#claimingSinceMs : null });
  }

  async #sendDue(): Promise<number> {
    const claimed = await this.#claim();
    const loaded = claimed.length === 0 ? [] : await this.#load(claimed);
    for (const delivery of loaded) this.#begin(delivery);
    return loaded.length;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.#sendDue();
        this.#outage.worked();
        const { hasMore, nextDueMs } = this.#pass;
        if (hasMore && this.#free >= CLAIM_WORTHWHILE) continue;
        if (hasMore && this.#free > 0) this.#alarm.wakeWithin(GATHER_MS);
        const untilDueMs = nextDueMs - this.#deps.clock.now().getTime();
        await this.#alarm.wait(Math.min(POLL_MS, Math.max(1, untilDueMs)));
      } catch (error) {
        this.#outage.failed(error);
        await this.#alarm.wait(POLL_MS);
      }
    }
  }

  async #runRecovery(): Promise<void> {
    while (!this.#isStopping) {
      await this.#recover();
      // Retries of a dead worker's deliveries may be due now.
      this.wake();
      await this.#recoveryAlarm.wait(POLL_MS);
    }
  }

  /** Requests that can be started now. */
  get #free(): number {
    return Math.min(REQUESTS_AT_ONCE_MAX - this.#requests, LEASES_MAX - this.#inFlight.size);
  }

  async #claim(): Promise<readonly ClaimedDelivery[]> {
    const free = this.#free;
    if (free === 0) {
      // Whatever this claim was woken for waits for the end of a request, or for a report.
      this.#pass.hasMore = true;
      return [];
    }
    const limit = Math.min(free, CLAIM_MAX);
    if (this.#pass.after === "") this.#pass = beginPass();
    const pass = this.#pass;
    const startClaim = () => ({ lease: this.#makeLease(), free, limit, after: pass.after });
    this.#reported.clear();
    const { deliveries, after, nextDueAt, ...held } = await claimDeliveries(this.#deps.db, startClaim);
    this.#noteClaim();
    pass.after = after;
    pass.hasMore = after !== "" || deliveries.length === limit;
    pass.nextDueMs = Math.min(pass.nextDueMs, nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY);
    for (const owner of held.heldBack) pass.heldBack.add(owner);
    for (const owner of held.heldBackByFailing) pass.heldBackByFailing.add(owner);
    for (const owner of this.#reported) this.#makeRoomFor(owner);
    return deliveries;
  }

  #noteClaim(): void {
    const nowMs = this.#deps.clock.now().getTime();
    if (Math.abs(nowMs - this.#claimedAtMs) > CLAIM_GAP_MS_MAX) this.#claimingSinceMs = nowMs;
    this.#claimedAtMs = nowMs;
  }

  #makeLease(): Lease {
    const { clock, random, webhooks } = this.#deps;
    const at = clock.now();
    const until = new Date(at.getTime() + webhooks.leaseMs);
    return { token: randomUuid(random), at, until, holder: this.#workerNumber };
  }

  /**
   * Returns the leases of what it can't load. While that fails too, it tries again as long as the lease lasts: giving up would
   * turn every claimed delivery into an interrupted attempt.
   */
  async #load(claimed: readonly ClaimedDelivery[]): Promise<readonly LoadedDelivery[]> {
    const { db, clock } = this.#deps;
    for (;;) {
      const { deliveries, missing, unread, error: fault } = await loadDeliveries(db, claimed);
      try {
        if (missing.length > 0) await dropLeases(db, missing);
        if (unread.length === 0) this.#loadOutage.worked();
        else {
          this.#loadOutage.failed(fault);
          await returnLeases(db, unread, new Date(clock.now().getTime() + POLL_MS));
        }
        return deliveries;
      } catch (error) {
        if (this.#isStopping || !claimed.some((delivery) => this.#isLeaseFresh(delivery))) throw error;
        this.#outage.failed(error);
        await new Alarm().wait(POLL_MS);
      }
    }
  }

  #begin(delivery: LoadedDelivery): void {
    const work = this.#attempt(delivery).finally(() => {
      this.#inFlight.delete(work);
      this.#vacuum.count();
      this.#reported.add(delivery.organizationId);
      this.#makeRoom();
      this.#makeRoomFor(delivery.organizationId);
    });
    this.#inFlight.add(work);
  }

  /** A request has ended or a report is written: claims more if the worker's own limits were in the way. */
  #makeRoom(): void {
    if (!this.#pass.hasMore) return;
    if (this.#free === CLAIM_WORTHWHILE) this.#alarm.wake();
    else this.#alarm.wakeWithin(GATHER_MS);
  }

  /** A report of the organization is written: claims more if its caps were in the way. */
  #makeRoomFor(owner: OrganizationId): void {
    if (this.#pass.heldBack.has(owner)) this.#alarm.wakeWithin(GATHER_MS);
    else if (this.#pass.heldBackByFailing.has(owner)) this.#alarm.wakeWithin(FAILING_GATHER_MS);
  }

  async #attempt(delivery: LoadedDelivery): Promise<void> {
    const { clock, log } = this.#deps;
    const { deliveryId } = delivery;
    try {
      if (!this.#isLeaseFresh(delivery)) {
        log.warn("delivery.claimed_too_late", { deliveryId });
        return;
      }
      const delivered = await this.#send(delivery);
      logAttempt(this.#deps, delivery, delivered);
      await this.#writer.write(delivered.report, delivery.lease.until);
      // With a shortened schedule the retry may be due before the next poll.
      const { nextAttemptAt } = delivered.report;
      if (nextAttemptAt && nextAttemptAt.getTime() - clock.now().getTime() < POLL_MS) this.#alarm.wakeWithin(GATHER_MS);
    } catch (error) {
      // A bug. When the lease expires, the attempt is reported as interrupted.
      log.error("delivery.attempt_failed", { deliveryId, error });
    }
  }

  async #send(delivery: LoadedDelivery): Promise<Delivered> {
    this.#requests++;
    try {
      return await deliver(this.#deliverDeps, delivery);
    } finally {
      this.#requests--;
      this.#makeRoom();
    }
  }

  /** False after the machine slept or PostgreSQL took very long: another worker may be about to send the delivery. */
  #isLeaseFresh({ lease }: ClaimedDelivery): boolean {
    return lease.until.getTime() - this.#deps.clock.now().getTime() >= this.#deps.webhooks.leaseMs / 2;
  }
}

function beginPass(): Pass {
  return {
    after: "",
    hasMore: false,
    nextDueMs: Number.POSITIVE_INFINITY,
    heldBack: new Set(),
    heldBackByFailing: new Set(),
  };
}
