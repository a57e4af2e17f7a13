import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { Alarm } from "../../lib/alarm.ts";
import { OutageLog } from "../../lib/outage-log.ts";
import { randomUuid } from "../../lib/random.ts";
import { EndpointCare } from "../health/endpoint-care.ts";
import { CAPS, PLANS_WITH_WEBHOOKS, REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";
import { type ClaimedDelivery, claimDeliveries } from "../queue/claim.ts";
import { cancelForbidden, dropOrphans, listExpiredLeases } from "../queue/recovery-queries.ts";
import { ReportWriter } from "../queue/report-writer.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import { type DeliverDeps, type Delivered, deliver, reportInterrupted } from "./deliver.ts";

// The loop that sends what is due. It claims as many deliveries as it may have requests in flight, sends them side by side, and
// writes how they ended. It goes round when it is woken (a booking was stored), when a request has ended and something may
// have waited for that, when the next retry is due, and every second for leases that ran out and whatever a lost
// notification left. Any number of loops may run, in any number of processes; one that ends without warning leaves its
// leases to the others.

const POLL_MS = 1_000;
/** What waits for requests to end waits for a few of them: a claim costs much the same for one delivery as for fifty. */
const GATHER_MS = 20;
const RECOVER_BATCH = 500;
/** Less than may be in flight, so that some deliveries are sent while the next are claimed and the last are written down. */
const CLAIM_MAX = 64;

type LoopDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics"> & { readonly webhooks: WebhookDeps };

export class DeliveryLoop {
  readonly #deps: LoopDeps;
  readonly #deliverDeps: DeliverDeps;
  readonly #writer: ReportWriter;
  readonly #alarm = new Alarm();
  readonly #outage: OutageLog;
  readonly #inFlight = new Set<Promise<void>>();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();
  /** The lane after which the next claim looks; empty at the beginning of a round over all lanes. */
  #after = "";
  /** The first retry that is not due yet, of the lanes seen in this round. */
  #nextDueMs = Number.POSITIVE_INFINITY;
  /** Whose requests' end may make room for more, seen in this round. */
  #heldBack = new Set<OrganizationId>();
  #isFull = false;
  /** The last claim ended before it had seen everything. */
  #hasMore = false;
  #recoveredAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: LoopDeps) {
    const { send, secretBox, schedule } = deps.webhooks;
    this.#deps = deps;
    this.#deliverDeps = { clock: deps.clock, send: send.send, secretBox, schedule };
    const care = new EndpointCare(deps);
    this.#writer = new ReportWriter(deps, (health) => care.lookAfter(health));
    this.#outage = new OutageLog(deps.log, { failed: "deliveries.claim_failed", resumed: "deliveries.claim_resumed" });
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Something may be due: go round now. */
  wake(): void {
    this.#alarm.wake();
  }

  /**
   * Claims nothing more and resolves when the requests under way have ended and are written down. Each ends by its time
   * limit; a process that cannot wait so long may end before, and its leases are taken up by others.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.wake();
    await this.#running;
    await this.settled();
  }

  /** Resolves when every request under way has ended and is written down. */
  async settled(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Recovers, claims and begins to send; returns how many requests were begun. */
  async goRound(): Promise<number> {
    const nowMs = this.#deps.clock.now().getTime();
    // Also when the clock was set back.
    if (Math.abs(nowMs - this.#recoveredAtMs) >= POLL_MS) {
      this.#recoveredAtMs = nowMs;
      await this.#recover().catch((error: unknown) => this.#deps.log.error("deliveries.recovery_failed", { error }));
    }
    return await this.#claim();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        await this.goRound();
        this.#outage.worked();
        if (this.#hasMore && !this.#isFull) continue;
        const untilDueMs = this.#nextDueMs - this.#deps.clock.now().getTime();
        await this.#alarm.wait(Math.min(POLL_MS, Math.max(1, untilDueMs)));
      } catch (error) {
        this.#outage.failed(error);
        await this.#alarm.wait(POLL_MS);
      }
    }
  }

  async #claim(): Promise<number> {
    const { clock, random, db, webhooks } = this.#deps;
    const free = REQUESTS_AT_ONCE_MAX - this.#inFlight.size;
    const limit = Math.min(free, CLAIM_MAX);
    this.#isFull = free === 0;
    if (this.#isFull) return 0;
    if (this.#after === "") {
      this.#nextDueMs = Number.POSITIVE_INFINITY;
      this.#heldBack.clear();
    }
    const { deliveries, after, nextDueAt, heldBack } = await claimDeliveries(db, () => {
      const now = clock.now();
      const leaseUntil = new Date(now.getTime() + webhooks.leaseMs);
      const leaseToken = randomUuid(random);
      return { now, leaseUntil, leaseToken, limit, free, caps: CAPS, plans: PLANS_WITH_WEBHOOKS, after: this.#after };
    });
    this.#after = after;
    this.#nextDueMs = Math.min(this.#nextDueMs, nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY);
    for (const owner of heldBack) this.#heldBack.add(owner);
    this.#isFull = deliveries.length === free;
    this.#hasMore = after !== "" || deliveries.length === limit;
    for (const delivery of deliveries) this.#begin(delivery);
    return deliveries.length;
  }

  #begin(claimed: ClaimedDelivery): void {
    const work = this.#attempt(claimed).finally(() => {
      this.#inFlight.delete(work);
      if (this.#isFull || this.#heldBack.has(claimed.organization_id)) this.#alarm.wakeWithin(GATHER_MS);
    });
    this.#inFlight.add(work);
  }

  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    const { clock, log, webhooks } = this.#deps;
    const { delivery_id: deliveryId, lease_until: leaseUntil } = claimed;
    try {
      // The machine slept, or PostgreSQL took very long: someone else may be about to send it.
      if (leaseUntil.getTime() - clock.now().getTime() < webhooks.leaseMs / 2) {
        log.warn("delivery.claimed_too_late", { deliveryId });
        return;
      }
      const delivered = await deliver(this.#deliverDeps, claimed);
      this.#record(claimed, delivered);
      await this.#writer.write(delivered.report, leaseUntil);
      // Only a shortened schedule has a retry before the loop looks anyway.
      const { nextAttemptAt } = delivered.report;
      if (nextAttemptAt && nextAttemptAt.getTime() - clock.now().getTime() < POLL_MS) this.#alarm.wakeWithin(GATHER_MS);
    } catch (error) {
      // A bug: the lease runs out, and the attempt is then reported as interrupted.
      log.error("delivery.attempt_failed", { deliveryId, error });
    }
  }

  #record(claimed: ClaimedDelivery, { report, operatorFault }: Delivered): void {
    const { metrics, log } = this.#deps;
    const { kind, endpoint_id: endpointId, delivery_id: deliveryId } = claimed;
    metrics.deliveryAttempts.inc({ kind, result: report.result, error: report.errorCode ?? "none" });
    if (report.durationMs !== null) metrics.deliveryDuration.observe({ kind }, report.durationMs / 1000);
    if (report.state === "delivered" || report.state === "failed")
      metrics.deliveriesEnded.inc({ kind, outcome: report.state });
    if (operatorFault) log.error(`delivery.${operatorFault}`, { deliveryId, endpointId });
    log.info("delivery.attempted", {
      organizationId: claimed.organization_id,
      deliveryId,
      endpointId,
      attemptNumber: claimed.number,
      outcome: report.result,
      ...(report.status === null ? {} : { status: report.status }),
      ...(report.errorCode === null ? {} : { errorCode: report.errorCode }),
      ...(report.durationMs === null ? {} : { durationMs: report.durationMs }),
      ...(report.nextAttemptAt === null ? {} : { nextAttemptAt: report.nextAttemptAt.toISOString() }),
    });
  }

  /** What others left behind, and what must not be sent any more. */
  async #recover(): Promise<void> {
    const { db, clock, metrics, log } = this.#deps;
    const now = clock.now();
    await cancelForbidden(db, { now, plans: PLANS_WITH_WEBHOOKS, limit: RECOVER_BATCH });
    const expired = await listExpiredLeases(db, { now, limit: RECOVER_BATCH });
    if (expired.length > 0) {
      metrics.leasesExpired.inc(expired.length);
      log.warn("deliveries.leases_expired", { count: expired.length });
      await Promise.all(
        expired.map((lease) => this.#writer.write(reportInterrupted(this.#deliverDeps, lease, now), now)),
      );
    }
    await dropOrphans(db, now);
  }
}
