import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import type { ClaimedDelivery, Lease } from "../queue/claim-queries.ts";
import { type LoadedDelivery, loadDeliveries } from "../queue/load.ts";
import { cancelForbidden, dropLeases, leaseHeldBack, listLostLeases } from "../queue/recovery-queries.ts";
import type { ReportWriter } from "../queue/report-writer.ts";
import { DeadWorkers } from "../queue/worker-locks.ts";
import { type DeliverDeps, reportHeldBack, reportInterrupted } from "./deliver.ts";
import { logAttempt } from "./log-attempt.ts";

// What a worker does once a second beside its claims: it cancels what must no longer be sent, takes over what dead workers left,
// and lets go of what was held back too long.

const RECOVER_BATCH = 500;
/**
 * A failing endpoint with a backlog holds a delivery back no longer; then its attempt counts as failed. With a batch every
 * second, that leaves time for 5,000 deliveries before a minute is over.
 */
const HELD_BACK_MS_MAX = 50_000;

type RecoveryDeps = Pick<Deps, "db" | "log" | "metrics">;

/** Parts of the worker's loop. */
type LoopParts = Pick<DeliverDeps, "schedule"> & {
  readonly writer: ReportWriter;
  readonly makeLease: () => Lease;
  readonly load: (claimed: readonly ClaimedDelivery[]) => Promise<readonly LoadedDelivery[]>;
};

export class Recovery {
  readonly #deps: RecoveryDeps;
  readonly #parts: LoopParts;
  readonly #deadWorkers = new DeadWorkers();
  /** Organizations whose server was down when their lost leases were last read. They must not keep the others waiting. */
  readonly #unread = new Set<OrganizationId>();

  constructor(deps: RecoveryDeps, parts: LoopParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** `claimingSinceMs`: since when the worker has claimed without a gap; null while it does not. Never rejects. */
  async recover({ now, claimingSinceMs }: { now: Date; claimingSinceMs: number | null }): Promise<void> {
    const { db, log } = this.#deps;
    const logFailure = (error: unknown) => log.error("deliveries.recovery_failed", { error });
    // Fails while a server is down that has one of these deliveries. They are not sent anyway.
    await cancelForbidden(db, { now, limit: RECOVER_BATCH }).catch(logFailure);
    try {
      await this.#takeOver(now);
      // Otherwise it was the worker that held deliveries back.
      const dueBefore = new Date(now.getTime() - HELD_BACK_MS_MAX);
      if (claimingSinceMs !== null && claimingSinceMs <= dueBefore.getTime())
        await this.#releaseHeldBack(now, dueBefore);
    } catch (error) {
      logFailure(error);
    }
  }

  /** Without a log line and metrics for each attempt: other workers may report the same ones. */
  async #takeOver(now: Date): Promise<void> {
    const { db, metrics, log } = this.#deps;
    const { schedule, writer } = this.#parts;
    const deadWorkers = await this.#deadWorkers.find(db);
    const lost = await listLostLeases(db, { now, deadWorkers, last: [...this.#unread], limit: RECOVER_BATCH });
    if (lost.length === 0) return;
    const { deliveries, missing, unread, error } = await loadDeliveries(db, lost);
    for (const { organizationId } of lost) this.#unread.delete(organizationId);
    for (const { organizationId } of unread) this.#unread.add(organizationId);
    if (unread.length > 0) log.error("deliveries.recovery_failed", { error });
    if (unread.length === lost.length) return;
    metrics.leasesExpired.inc(lost.length - unread.length);
    log.warn("deliveries.leases_expired", { count: lost.length - unread.length });
    if (missing.length > 0) await dropLeases(db, missing);
    const reports = deliveries.map((delivery) => {
      const isWorkerDead = delivery.lease.holder !== null && deadWorkers.includes(delivery.lease.holder);
      return reportInterrupted({ schedule }, delivery, { isWorkerDead, now });
    });
    await Promise.all(reports.map((report) => writer.write(report, now)));
  }

  async #releaseHeldBack(now: Date, dueBefore: Date): Promise<void> {
    const { schedule, writer, makeLease, load } = this.#parts;
    const held = await leaseHeldBack(this.#deps.db, { lease: makeLease(), dueBefore, limit: RECOVER_BATCH });
    if (held.length === 0) return;
    this.#deps.log.warn("deliveries.held_back", { count: held.length });
    const writes = (await load(held)).map((delivery) => {
      const report = reportHeldBack({ schedule }, delivery, now);
      logAttempt(this.#deps, delivery, { report, operatorFault: null });
      return writer.write(report, delivery.lease.until);
    });
    await Promise.all(writes);
  }
}
