import type { Home } from "../../db/citus/homes.ts";
import type { Db } from "../../db/connections/pool.ts";
import { isMoved } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { loadDeliveries } from "../queue/load.ts";
import {
  cancelForbiddenAcrossOrganizations,
  dropLeases,
  leaseHeldBackAcrossOrganizations,
  listLostLeasesAcrossOrganizations,
  listMissingHoldersAcrossOrganizations,
} from "../queue/recovery-queries.ts";
import type { ReportWriter } from "../queue/report-writer.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import { reportHeldBack, reportInterrupted } from "./attempt-report.ts";
import { logAttempt } from "./deliver.ts";
import type { Sender } from "./sender.ts";

// What a worker does once a second beside its claims: it cancels what must no longer be sent, takes over what dead workers left,
// and lets go of what was held back too long.

const RECOVER_BATCH = 500;
/**
 * A failing endpoint with a backlog holds a delivery back no longer; then its attempt counts as failed. With a batch every
 * second, that leaves time for 5,000 deliveries before a minute is over.
 */
const HELD_BACK_MS_MAX = 50_000;

/** After this long without a claim, it was the worker that held deliveries back. */
const CLAIM_GAP_MS_MAX = 10_000;

type RecoveryDeps = Pick<Deps, "db" | "clock" | "log" | "metrics"> & {
  readonly webhooks: Pick<WebhookDeps, "schedule">;
};

type LoopParts = {
  readonly home: Home;
  readonly writer: ReportWriter;
  readonly sender: Pick<Sender, "makeLease" | "load">;
};

export class Recovery {
  readonly #deps: RecoveryDeps;
  readonly #parts: LoopParts;
  readonly #deadWorkers = new DeadWorkers();
  #recoveredAtMs = Number.NEGATIVE_INFINITY;
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when claims have followed each other without a gap. */
  #claimingSinceMs = Number.NEGATIVE_INFINITY;

  constructor(deps: RecoveryDeps, parts: LoopParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  noteClaim(): void {
    const nowMs = this.#deps.clock.now().getTime();
    if (Math.abs(nowMs - this.#claimedAtMs) > CLAIM_GAP_MS_MAX) this.#claimingSinceMs = nowMs;
    this.#claimedAtMs = nowMs;
  }

  async recoverIfDue(periodMs: number): Promise<void> {
    const nowMs = this.#deps.clock.now().getTime();
    // The absolute difference, because the clock may be set back.
    if (Math.abs(nowMs - this.#recoveredAtMs) >= periodMs) await this.recover();
  }

  /** Returns whether it took over leases of others. Never rejects. */
  async recover(): Promise<boolean> {
    const { db, clock, log } = this.#deps;
    const now = clock.now();
    this.#recoveredAtMs = now.getTime();
    // A shard group that moves is recovered at its new home.
    const logFailure = (error: unknown) => {
      if (!isMoved(db, error)) log.error("deliveries.recovery_failed", { error });
    };
    await cancelForbiddenAcrossOrganizations(this.#parts.home.writer, { now, limit: RECOVER_BATCH }).catch(logFailure);
    let hasTakenOver = false;
    try {
      hasTakenOver = await this.#takeOver(now);
      // Only if this worker has been claiming for that long. Before, the worker itself was the delay.
      const isClaiming = now.getTime() - this.#claimedAtMs <= CLAIM_GAP_MS_MAX;
      const dueBefore = new Date(now.getTime() - HELD_BACK_MS_MAX);
      if (isClaiming && this.#claimingSinceMs <= dueBefore.getTime()) await this.#releaseHeldBack(now, dueBefore);
    } catch (error) {
      logFailure(error);
    }
    return hasTakenOver;
  }

  /** Without a log line and metrics for each attempt: other workers may report the same ones. */
  async #takeOver(now: Date): Promise<boolean> {
    const { db, metrics, log, webhooks } = this.#deps;
    const { schedule } = webhooks;
    const { reader } = this.#parts.home;
    const deadWorkers = await this.#deadWorkers.find(reader);
    const lost = await listLostLeasesAcrossOrganizations(reader, { now, deadWorkers, limit: RECOVER_BATCH });
    if (lost.length === 0) return false;
    const { deliveries, missing, unread, error } = await loadDeliveries(db, lost);
    if (unread.length > 0) log.error("deliveries.recovery_failed", { error });
    if (unread.length === lost.length) return false;
    metrics.leasesExpired.inc(lost.length - unread.length);
    log.warn("deliveries.leases_expired", { count: lost.length - unread.length });
    if (missing.length > 0) await dropLeases(db, missing);
    const reports = deliveries.map((delivery) => {
      const isWorkerDead = delivery.lease.holder !== null && deadWorkers.includes(delivery.lease.holder);
      return reportInterrupted({ schedule }, delivery, { isWorkerDead, now });
    });
    await Promise.all(reports.map((report) => this.#parts.writer.write(report, now)));
    return true;
  }

  async #releaseHeldBack(now: Date, dueBefore: Date): Promise<void> {
    const { home, writer, sender } = this.#parts;
    const { schedule } = this.#deps.webhooks;
    const held = await leaseHeldBackAcrossOrganizations(home.writer, {
      lease: sender.makeLease(),
      dueBefore,
      limit: RECOVER_BATCH,
    });
    if (held.length === 0) return;
    this.#deps.log.warn("deliveries.held_back", { count: held.length });
    const writes = (await sender.load(held)).map((delivery) => {
      const report = reportHeldBack({ schedule }, delivery, now);
      logAttempt(this.#deps, delivery, { report, operatorFault: null });
      return writer.write(report, delivery.lease.until);
    });
    await Promise.all(writes);
  }
}

// Every worker process holds an advisory lock while it lives, on each server that has deliveries, and its leases carry the lock's
// number. PostgreSQL releases the lock when the process dies, so other workers notice that within seconds.

/** A lock that is missing for this long belongs to a dead worker. A living one reconnects sooner. */
const MISSING_MS = 1_500;

export class DeadWorkers {
  /** When this process first saw that a worker's lock is missing. */
  readonly #missingSinceMs = new Map<number, number>();

  /** The numbers of workers that hold leases at this home and are dead. Call it about once a second, always for the same home. */
  async find(home: Db): Promise<number[]> {
    const missing = new Set(await this.#listMissing(home));
    const nowMs = performance.now();
    for (const holder of this.#missingSinceMs.keys()) if (!missing.has(holder)) this.#missingSinceMs.delete(holder);
    for (const holder of missing) {
      if (!this.#missingSinceMs.has(holder)) this.#missingSinceMs.set(holder, nowMs);
    }
    return [...this.#missingSinceMs].filter(([, sinceMs]) => nowMs - sinceMs >= MISSING_MS).map(([holder]) => holder);
  }

  /** While the database is down, nobody holds a lock, and living workers need time to reconnect afterwards. */
  async #listMissing(home: Db): Promise<number[]> {
    try {
      return await listMissingHoldersAcrossOrganizations(home);
    } catch (error) {
      this.#missingSinceMs.clear();
      throw error;
    }
  }
}
