import pg from "pg";
import type { OrganizationId } from "#contract/ids.ts";
import type { Home } from "../../db/citus/homes.ts";
import { connectPatiently, type Db } from "../../db/connections/pool.ts";
import { atHomes, isMoved } from "../../db/home.ts";
import { pause } from "../../lib/concurrency/pause.ts";
import type { Log } from "../../lib/log/log.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { type AttemptReport, type AuditGone, type EndpointHealth, writeReports } from "./report-queries.ts";

// Writes reports in batches, one at a time; reports that arrive meanwhile go into the next batch. While the database is down,
// reports are kept and written again until their lease ends; then another worker reports the attempt. The loop bounds
// the attempts whose report is not written yet.

const RETRY_MS = 500;

type WriterDeps = { db: Db; clock: Clock; log: Log };

type Care = {
  /** Called for every endpoint in use that is failing or gone after a report. */
  lookAfter(health: EndpointHealth): Promise<void>;
  auditGone: AuditGone;
};

type Pending = {
  readonly organizationId: OrganizationId;
  readonly report: AttemptReport;
  readonly leaseUntil: Date;
  readonly resolve: () => void;
};

export class ReportWriter {
  readonly #deps: WriterDeps;
  readonly #care: Care;
  readonly #outage: OutageLog;
  #pending: Pending[] = [];
  #isWriting = false;

  constructor(deps: WriterDeps, care: Care) {
    this.#deps = deps;
    this.#care = care;
    this.#outage = new OutageLog(deps.log, {
      failed: "deliveries.report_failed",
      resumed: "deliveries.report_resumed",
    });
  }

  /** Resolves when the report is written or its lease has ended. Never rejects. */
  write(report: AttemptReport, leaseUntil: Date): Promise<void> {
    return new Promise((resolve) => {
      this.#pending.push({ organizationId: report.organizationId, report, leaseUntil, resolve });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0) {
      const batch = keepFirst(this.#pending);
      this.#pending = [];
      const unwritten = await this.#writeAtHomes(batch);
      if (unwritten.length === 0) continue;
      const now = this.#deps.clock.now();
      for (const late of unwritten.filter(({ leaseUntil }) => leaseUntil <= now)) late.resolve();
      this.#pending.unshift(...unwritten.filter(({ leaseUntil }) => leaseUntil > now));
      await pause(RETRY_MS);
    }
    this.#isWriting = false;
  }

  /** Returns the reports that must be written again. Writing one twice changes nothing. */
  async #writeAtHomes(batch: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      const groups = await atHomes(this.#deps.db, batch, (home, rows) => this.#writeBatch(home, rows));
      return groups.flatMap(({ result }) => result);
    } catch (error) {
      this.#outage.failed(error);
      return batch;
    }
  }

  /** Rejects only if the rows have moved. */
  async #writeBatch(home: Home, batch: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      await this.#finish(
        home,
        batch.map(({ report }) => report),
      );
    } catch (error) {
      if (isMoved(this.#deps.db, error)) throw error;
      if (!isRefusal(error)) {
        this.#outage.failed(error);
        return batch;
      }
      const [first, ...others] = batch;
      if (!first || others.length > 0) return await this.#writeApart(home, batch);
      if (!(await this.#writeWithoutReply(home, first, error))) return batch;
    }
    this.#outage.worked();
    for (const { resolve } of batch) resolve();
    return [];
  }

  /** One report that PostgreSQL refuses must not lose the others. */
  async #writeApart(home: Home, batch: readonly Pending[]): Promise<readonly Pending[]> {
    const unwritten: Pending[] = [];
    for (const single of batch) unwritten.push(...(await this.#writeBatch(home, [single])));
    return unwritten;
  }

  /**
   * The reply and its headers are the only parts of a report that come from outside, so it is written without them. False if it
   * must be written again.
   */
  async #writeWithoutReply(home: Home, { report }: Pending, refusal: unknown): Promise<boolean> {
    this.#deps.log.error("delivery.report_refused", { deliveryId: report.deliveryId, error: refusal });
    try {
      await this.#finish(home, [{ ...report, reply: null, replyIsTruncated: true, detail: null }]);
    } catch (error) {
      if (isMoved(this.#deps.db, error)) throw error;
      if (!isRefusal(error)) {
        this.#outage.failed(error);
        return false;
      }
      this.#deps.log.error("delivery.report_lost", { deliveryId: report.deliveryId, error });
    }
    return true;
  }

  async #finish(home: Home, reports: readonly AttemptReport[]): Promise<void> {
    const auditGone: AuditGone = (transaction, owner, id) => this.#care.auditGone(transaction, owner, id);
    for (const health of await writeReports(home, reports, auditGone)) await this.#care.lookAfter(health);
  }
}

/**
 * Keeps the first report of each attempt. After an outage there may be two with the same token: the receiver's reply, kept
 * while the database was down, and the expired lease.
 */
function keepFirst(pending: readonly Pending[]): Pending[] {
  const firsts = new Map<string, Pending>();
  for (const each of pending) {
    const key = `${each.report.deliveryId} ${each.report.leaseToken}`;
    if (firsts.has(key)) each.resolve();
    else firsts.set(key, each);
  }
  return [...firsts.values()];
}

/** PostgreSQL refused the statement itself, so trying again would not help. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !TEMPORARY.test(error.code ?? "");
}

/** Connection lost, deadlock, no resources, stopped by the operator, system or internal error. */
const TEMPORARY = /^(?:08|25|40|53|55|57|58|XX|$)/;

const VACUUM_AFTER = 5_000;

/** Each delivery leaves dead rows where claims look first, and autovacuum comes too late at thousands a second. */
export class QueueVacuum {
  readonly #home: Home;
  readonly #log: Log;
  #finished = 0;
  #running: Promise<void> | null = null;

  constructor(home: Home, log: Log) {
    this.#home = home;
    this.#log = log;
  }

  /** An attempt has ended. */
  count(): void {
    if (++this.#finished < VACUUM_AFTER || this.#running) return;
    this.#finished = 0;
    this.#running = this.#vacuum().finally(() => {
      this.#running = null;
    });
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #vacuum(): Promise<void> {
    const { pool, group } = this.#home;
    const queue = group?.names.get("delivery_queue") ?? "delivery_queue";
    try {
      const client = await connectPatiently(pool);
      await client.query(`vacuum (skip_locked, truncate false) ${queue}`).finally(() => client.release());
    } catch (error) {
      this.#log.warn("deliveries.vacuum_failed", { error });
    }
  }
}
