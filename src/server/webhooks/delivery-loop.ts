import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../deps.ts";
import { randomUuid } from "../lib/random.ts";
import { type DeliverDeps, deliver, reportInterrupted } from "./deliver.ts";
import { insertNotice } from "./endpoint-queries.ts";
import { disableEndpoint, PLANS_WITH_WEBHOOKS } from "./endpoints.ts";
import { describeVerdict, judgeHealth } from "./health.ts";
import {
  type AttemptReport,
  type ClaimedDelivery,
  cancelForbidden,
  claimDeliveries,
  type EndpointHealth,
  finishAttempts,
  listExpiredLeases,
} from "./queue-queries.ts";

// The loop that sends what is due. It claims as many deliveries as it has free places for, sends them side by side, and
// writes how they ended in batches. It goes round when it is woken (a booking was stored), when places become free, and
// every second for retries, leases that ran out and whatever a lost notification left. Any number of loops may run, in any
// number of processes.

const PLACES = 256;
const PER_ENDPOINT = 10;
const PER_CAREFUL_ENDPOINT = 1;
const CAREFUL_AFTER = 3;
const PER_ORGANIZATION = PLACES / 4;
const POLL_MS = 1_000;
const SWEEP_BATCH = 500;
const NOTICE_PAUSE_MS = 24 * 3_600_000;

export type LoopDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics" | "webhooks">;

export class DeliveryLoop {
  readonly #deps: LoopDeps;
  readonly #deliverDeps: DeliverDeps;
  readonly #stopping = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #reports: AttemptReport[] = [];
  #writing: Promise<void> | null = null;
  #wake: (() => void) | null = null;
  #isWoken = false;
  #after = "";
  #running: Promise<void> | null = null;

  constructor(deps: LoopDeps) {
    this.#deps = deps;
    const { send, secretBox, schedule } = deps.webhooks;
    this.#deliverDeps = { clock: deps.clock, send: send.send, secretBox, schedule };
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Something may be due: go round now. */
  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Claims nothing more, lets the requests under way end (each has its time limit) and writes how they ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
    await Promise.all(this.#inFlight);
    while (this.#writing) await this.#writing;
  }

  async #run(): Promise<void> {
    let nextSweepMs = 0;
    while (!this.#stopping.signal.aborted) {
      this.#isWoken = false;
      let claimed = 0;
      try {
        const nowMs = this.#deps.clock.now().getTime();
        if (nowMs >= nextSweepMs) {
          await this.#sweep();
          nextSweepMs = nowMs + POLL_MS;
        }
        claimed = await this.#claim();
      } catch (error) {
        this.#deps.log.error("deliveries.claim_failed", { error });
        await this.#wait();
        continue;
      }
      // Full lanes or places: more may be due at once. Otherwise wait for a reason to look again.
      if (claimed === 0 && this.#after === "" && !this.#isWoken) await this.#wait();
    }
  }

  async #wait(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = new AbortController();
    await Promise.race([promise, sleep(POLL_MS, undefined, { signal: timer.signal }).catch(() => undefined)]);
    timer.abort();
    this.#wake = null;
  }

  async #claim(): Promise<number> {
    const { clock, random, db, webhooks } = this.#deps;
    const limit = PLACES - this.#inFlight.size;
    if (limit === 0) return 0;
    const now = clock.now();
    const { claimed, after } = await claimDeliveries(db, {
      now,
      leaseUntil: new Date(now.getTime() + webhooks.leaseMs),
      leaseToken: randomUuid(random),
      limit,
      perEndpoint: PER_ENDPOINT,
      perCarefulEndpoint: PER_CAREFUL_ENDPOINT,
      carefulAfter: CAREFUL_AFTER,
      perOrganization: PER_ORGANIZATION,
      plans: PLANS_WITH_WEBHOOKS,
      after: this.#after,
    });
    this.#after = after;
    for (const delivery of claimed) this.#begin(delivery);
    return claimed.length;
  }

  #begin(claimed: ClaimedDelivery): void {
    const work = this.#attempt(claimed).finally(() => {
      this.#inFlight.delete(work);
      this.wake();
    });
    this.#inFlight.add(work);
  }

  async #attempt(claimed: ClaimedDelivery): Promise<void> {
    try {
      const report = await deliver(this.#deliverDeps, claimed);
      this.#record(claimed, report);
      this.#reports.push(report);
      await this.#writeReports();
    } catch (error) {
      // A bug: the lease runs out, and the attempt is then reported as interrupted.
      this.#deps.log.error("delivery.attempt_failed", { deliveryId: claimed.delivery_id, error });
    }
  }

  #record(claimed: ClaimedDelivery, report: AttemptReport): void {
    const { kind } = claimed;
    this.#deps.metrics.deliveryAttempts.inc({ kind, result: report.result, error: report.errorCode ?? "none" });
    if (report.durationMs !== null) this.#deps.metrics.deliveryDuration.observe({ kind }, report.durationMs / 1000);
    this.#deps.log.info("delivery.attempted", {
      organizationId: claimed.organization_id,
      deliveryId: claimed.delivery_id,
      endpointId: claimed.endpoint_id,
      attemptNumber: claimed.number,
      outcome: report.result,
      ...(report.status === null ? {} : { status: report.status }),
      ...(report.durationMs === null ? {} : { durationMs: report.durationMs }),
      ...(report.nextAttemptAt === null ? {} : { nextAttemptAt: report.nextAttemptAt.toISOString() }),
    });
  }

  /** One statement at a time; whatever is reported meanwhile goes with the next. */
  async #writeReports(): Promise<void> {
    while (this.#writing) await this.#writing;
    if (this.#reports.length === 0) return;
    const batch = this.#reports;
    this.#reports = [];
    this.#writing = this.#finish(batch).finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  async #finish(batch: readonly AttemptReport[]): Promise<void> {
    const unwell = await finishAttempts(this.#deps.db, batch);
    for (const health of unwell) await this.#lookAfter(health);
  }

  async #lookAfter(health: EndpointHealth): Promise<void> {
    const { db, clock, random, log } = this.#deps;
    const now = clock.now();
    const verdict = judgeHealth(health, now);
    if (verdict.kind === "well") return;
    if (verdict.kind === "disable") {
      await disableEndpoint(this.#deps, health.organization_id, { id: health.endpoint_id, reason: verdict.reason });
      log.warn("endpoint.disabled", { organizationId: health.organization_id, endpointId: health.endpoint_id });
    }
    await insertNotice(db, health.organization_id, {
      id: randomUuid(random),
      endpointId: health.endpoint_id,
      kind: verdict.kind === "disable" ? "disabled" : verdict.kind,
      detail: describeVerdict(verdict, health),
      now,
      notSince: new Date(now.getTime() - NOTICE_PAUSE_MS),
    });
  }

  async #sweep(): Promise<void> {
    const { db, clock } = this.#deps;
    const now = clock.now();
    await cancelForbidden(db, { now, plans: PLANS_WITH_WEBHOOKS, limit: SWEEP_BATCH });
    const expired = await listExpiredLeases(db, { now, limit: SWEEP_BATCH });
    if (expired.length === 0) return;
    this.#deps.metrics.leasesExpired.inc(expired.length);
    await finishAttempts(
      db,
      expired.map((lease) => reportInterrupted(this.#deliverDeps, lease, now)),
    );
  }
}
