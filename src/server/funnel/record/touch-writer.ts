import pg from "pg";
import type { Db } from "../../db/pool.ts";
import { Batcher, type BatcherLimits } from "../../lib/batcher.ts";
import type { OutageLog } from "../../lib/outage-log.ts";
import { recordTouches } from "./record.ts";
import type { Touch } from "./touch.ts";

// Group commit: the touches of all requests at hand are recorded by one statement, and each request is answered when that
// statement has committed or failed. So an answer is never early, and a commit is shared by as many as there are.

/** `paused` also stands for a widget that is gone since it was looked up. */
type WriteOutcome = "recorded" | "paused" | "malformed" | "queue_full" | "database_unavailable";

export const WRITER_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 1, waitMs: 5_000 };

/** Further attempts at a batch that lost to another transaction. */
const RETRIES_MAX = 3;

export class TouchWriter {
  readonly #db: Db;
  readonly #outages: OutageLog;
  readonly #batcher: Batcher<Touch, WriteOutcome>;

  constructor(deps: { db: Db; outages: OutageLog }, limits: BatcherLimits = WRITER_LIMITS) {
    this.#db = deps.db;
    this.#outages = deps.outages;
    this.#batcher = new Batcher(limits, (touches) => this.#record(touches));
  }

  /** Touches that were accepted and are not settled yet. */
  get waitingCount(): number {
    return this.#batcher.itemCount;
  }

  /** Resolves after the commit, or when it is known that there will be none in time. */
  async write(touch: Touch): Promise<WriteOutcome> {
    const batched = await this.#batcher.submit(touch);
    switch (batched.kind) {
      case "done":
        return batched.result;
      case "full":
        return "queue_full";
      case "late":
        return "database_unavailable";
      default:
        return batched satisfies never;
    }
  }

  /** Resolves when everything that was accepted has been settled. */
  async close(): Promise<void> {
    await this.#batcher.idle();
  }

  async #record(touches: readonly Touch[], retriesLeft = RETRIES_MAX): Promise<WriteOutcome[]> {
    try {
      const recorded = await recordTouches(this.#db, touches, "active");
      this.#outages.worked();
      return touches.map((touch) => (recorded.has(touch.widgetId) ? "recorded" : "paused"));
    } catch (error) {
      const fault = toFault(error);
      if (fault === "conflict" && retriesLeft > 0) return await this.#record(touches, retriesLeft - 1);
      if (fault === "data") return await this.#isolate(touches);
      this.#outages.failed(error);
      return touches.map(() => "database_unavailable");
    }
  }

  /** One touch that PostgreSQL cannot hold must not fail the others: halves, until it is alone. */
  async #isolate(touches: readonly Touch[]): Promise<WriteOutcome[]> {
    if (touches.length === 1) return ["malformed"];
    const middle = touches.length >> 1;
    return [...(await this.#record(touches.slice(0, middle))), ...(await this.#record(touches.slice(middle)))];
  }
}

/** By PostgreSQL's error classes: 40 lost to another transaction, 22 the values given. All else is the server's trouble. */
function toFault(error: unknown): "conflict" | "data" | "server" {
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  if (code.startsWith("40")) return "conflict";
  return code.startsWith("22") ? "data" : "server";
}
