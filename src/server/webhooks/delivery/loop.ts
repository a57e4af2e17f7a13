import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { Alarm } from "../../lib/concurrency/alarm.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
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
import { beginPass, type Pass } from "./pass.ts";
import { Places } from "./places.ts";
import { Recovery } from "./recovery.ts";

// The loop that sends what is due: it claims as many deliveries as it may have requests in flight, loads them beside the next
// claim, sends them side by side and writes how they ended. While more is due than it can claim, one claim follows the other as
// soon as half of its requests are free, or after 20 ms. Otherwise a round starts
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
const CLAIM_WORTHWHILE = REQUESTS_AT_ONCE_MAX / 2;
const GATHER_MS = 5;
const SCARCE_GATHER_MS = 20;
/** After a claim of this many, the next one waits for more, unless more is due: a millisecond for each, up to SCARCE_GATHER_MS. */
const BUSY_CLAIM = 4;
/** A failing endpoint's next request waits for a claim that comes anyway, so that claims for it don't delay others. */
const FAILING_GATHER_MS = 50;
/** After this long without a claim, it was the worker that held deliveries back. */
const CLAIM_GAP_MS_MAX = 10_000;
type LoopDeps = Pick<Deps, "db" | "patientDb" | "clock" | "random" | "log" | "metrics"> & {
  readonly webhooks: WebhookDeps;
};

export class DeliveryLoop {
  readonly #deps: LoopDeps;
  readonly #deliverDeps: DeliverDeps;
  readonly #writer: ReportWriter;
  readonly #vacuum: QueueVacuum;
  readonly #recovery: Recovery;
  readonly #alarm = new Alarm();
  readonly #recoveryAlarm = new Alarm();
  /** Rings when a claim is worthwhile again. */
  #room = new Alarm();
  readonly #outage: OutageLog;
  readonly #loadOutage: OutageLog;
  /** Loads and attempts under way. */
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #places = new Places();
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
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.#vacuum.settled();
  }

  /** Recovers, claims and starts to send; returns how many requests were started. */
  async goRound(): Promise<number> {
    const nowMs = this.#deps.clock.now().getTime();
    // The absolute difference, because the clock may be set back.
    if (Math.abs(nowMs - this.#recoveredAtMs) >= POLL_MS) await this.#recover();
    return await this.#send(await this.#claim());
  }

  /** Never rejects. */
  async #recover(): Promise<void> {
    const now = this.#deps.clock.now();
    this.#recoveredAtMs = now.getTime();
    const isClaiming = now.getTime() - this.#claimedAtMs <= CLAIM_GAP_MS_MAX;
    await this.#recovery.recover({ now, claimingSinceMs: isClaiming ? this.#claimingSinceMs : null });
  }

  /** Loads what was claimed and starts the requests; returns how many. */
  async #send(claimed: readonly ClaimedDelivery[]): Promise<number> {
    if (claimed.length === 0) return 0;
    this.#places.addClaimed(claimed.length);
    let loaded: readonly LoadedDelivery[] = [];
    try {
      loaded = await this.#load(claimed);
      for (const delivery of loaded) this.#begin(delivery);
      return loaded.length;
    } finally {
      const unsent = claimed.length - loaded.length;
      this.#places.removeClaimed(unsent);
      if (unsent > 0) this.#makeRoom();
    }
  }

  /** The next claim does not wait for it. */
  #sendBesideClaims(claimed: readonly ClaimedDelivery[]): void {
    const work = this.#send(claimed)
      .catch((error: unknown) => this.#outage.failed(error))
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        const claimed = await this.#claim();
        this.#outage.worked();
        this.#sendBesideClaims(claimed);
        const { after, hasMore, hasClaimed, nextDueMs } = this.#pass;
        const isFull = this.#places.free === 0;
        if (!isFull && (after !== "" || (hasMore && hasClaimed))) {
          await this.#waitForRoom();
          continue;
        }
        if (claimed.length >= BUSY_CLAIM) await pause(Math.min(SCARCE_GATHER_MS, claimed.length));
        const untilDueMs = isFull ? POLL_MS : nextDueMs - this.#deps.clock.now().getTime();
        await this.#alarm.wait(Math.min(POLL_MS, Math.max(1, untilDueMs)));
      } catch (error) {
        this.#outage.failed(error);
        await this.#alarm.wait(POLL_MS);
      }
    }
  }

  async #waitForRoom(): Promise<void> {
    if (this.#places.free >= CLAIM_WORTHWHILE) return;
    // A new one, because the last may have rung while nobody waited.
    this.#room = new Alarm();
    await this.#room.wait(SCARCE_GATHER_MS);
  }

  async #runRecovery(): Promise<void> {
    while (!this.#isStopping) {
      await this.#recover();
      // Retries of a dead worker's deliveries may be due now.
      this.wake();
      await this.#recoveryAlarm.wait(POLL_MS);
    }
  }

  get #gatherMs(): number {
    return this.#places.free < CLAIM_WORTHWHILE ? SCARCE_GATHER_MS : GATHER_MS;
  }

  async #claim(): Promise<readonly ClaimedDelivery[]> {
    const { free } = this.#places;
    if (free === 0) {
      // Whatever this claim was woken for waits for the end of a request, or for a report.
      this.#pass.hasMore = true;
      return [];
    }
    if (this.#pass.after === "") this.#pass = beginPass();
    const pass = this.#pass;
    const startClaim = () => ({ lease: this.#makeLease(), free, after: pass.after });
    this.#reported.clear();
    const { deliveries, after, hasMore, nextDueAt, ...held } = await claimDeliveries(this.#deps.db, startClaim);
    this.#noteClaim();
    pass.after = after;
    pass.hasMore ||= hasMore;
    pass.hasClaimed ||= deliveries.length > 0;
    pass.nextDueMs = Math.min(pass.nextDueMs, nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY);
    for (const owner of held.heldBack) pass.heldBack.add(owner);
    for (const owner of held.heldBackByFailing) pass.heldBackByFailing.add(owner);
    // What has ended during the claim found no pass that waits for it.
    if (hasMore && deliveries.length === 0 && this.#places.free > free) this.#makeRoom();
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
   * Returns the leases of what it can't load, or whose endpoint was removed after the claim. While that fails too, it tries again
   * as long as the lease lasts: giving up would turn every claimed delivery into an interrupted attempt.
   */
  async #load(claimed: readonly ClaimedDelivery[]): Promise<readonly LoadedDelivery[]> {
    const { db, clock } = this.#deps;
    for (;;) {
      const { deliveries, missing, unread, error: fault } = await loadDeliveries(db, claimed);
      try {
        if (missing.length > 0) await dropLeases(db, missing);
        if (unread.length === 0) this.#loadOutage.worked();
        else this.#loadOutage.failed(fault);
        const { removed = [], sendable = [] } = Object.groupBy(deliveries, ({ isEndpointRemoved }) =>
          isEndpointRemoved ? "removed" : "sendable",
        );
        const returned = [...unread, ...removed];
        if (returned.length > 0) await returnLeases(db, returned, new Date(clock.now().getTime() + POLL_MS));
        return sendable;
      } catch (error) {
        if (this.#isStopping || !claimed.some((delivery) => this.#isLeaseFresh(delivery))) throw error;
        this.#outage.failed(error);
        await pause(POLL_MS);
      }
    }
  }

  #begin(delivery: LoadedDelivery): void {
    const work = this.#attempt(delivery).finally(() => {
      this.#underWay.delete(work);
      this.#places.endLease();
      this.#vacuum.count();
      this.#reported.add(delivery.organizationId);
      this.#makeRoom();
      this.#makeRoomFor(delivery.organizationId);
    });
    this.#underWay.add(work);
  }

  /** A request has ended or a report is written: claims more if the worker's own limits were in the way. */
  #makeRoom(): void {
    if (this.#pass.after === "" && !this.#pass.hasMore) return;
    if (this.#places.free >= CLAIM_WORTHWHILE) this.#room.wake();
    if (this.#places.free === CLAIM_WORTHWHILE) this.#alarm.wake();
    else this.#alarm.wakeWithin(this.#gatherMs);
  }

  /** A report of the organization is written: claims more if its caps were in the way. */
  #makeRoomFor(owner: OrganizationId): void {
    if (this.#pass.heldBack.has(owner)) this.#alarm.wakeWithin(this.#gatherMs);
    else if (this.#pass.heldBackByFailing.has(owner)) this.#alarm.wakeWithin(FAILING_GATHER_MS);
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
      // With a shortened schedule the retry may be due before the next poll.
      const { nextAttemptAt } = delivered.report;
      if (nextAttemptAt && nextAttemptAt.getTime() - clock.now().getTime() < POLL_MS) this.#alarm.wakeWithin(GATHER_MS);
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
      this.#makeRoom();
    }
  }

  /** False after the machine slept or PostgreSQL took very long: another worker may be about to send the delivery. */
  #isLeaseFresh({ lease }: ClaimedDelivery): boolean {
    return lease.until.getTime() - this.#deps.clock.now().getTime() >= this.#deps.webhooks.leaseMs / 2;
  }
}
