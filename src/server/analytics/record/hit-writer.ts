import pg from "pg";
import type { Db } from "../../db/connections/pool.ts";
import { atHomes, atServers, findServer, isMoved, type Part } from "../../db/home.ts";
import { Batcher, type BatcherLimits } from "../../lib/concurrency/batcher.ts";
import { noteEvents } from "../../lib/concurrency/sliced-work.ts";
import type { OutageLog } from "../../lib/log/outage-log.ts";
import { type Hit, toVisitName } from "./hit.ts";
import { KnownKeys } from "./known-keys.ts";
import { addDrops, listRecorded } from "./queries.ts";
import { recordTogether } from "./record.ts";

// Group commit: one transaction records the hits of all waiting requests, and each request is answered once it has
// committed or failed. So no response is early, and many requests share one commit.

/** If it may not start a visit, it counts only if the visit is already known. */
type LiveHit = Hit & { mayStart: boolean };

/**
 * `paused` includes widgets that were deleted since they were looked up. `wasKnown`: the visit had been recorded
 * before.
 */
type Written = { outcome: "recorded"; wasKnown: boolean } | { outcome: WriteFailure };
type WriteFailure = "paused" | "over_budget" | "malformed" | "queue_full" | "database_unavailable";

export const WRITER_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 1, waitMs: 5_000 };

/** Further attempts at a batch that lost to another transaction. */
const RETRIES_MAX = 3;

export class HitWriter {
  readonly #db: Db;
  readonly #clock: { now(): Date };
  readonly #outages: OutageLog;
  readonly #limits: BatcherLimits;
  /** One for each server of a cluster, so that a slow one delays only its own organizations. */
  readonly #batchers = new Map<string, Batcher<LiveHit, Written>>();
  readonly #knownKeys = new KnownKeys();

  constructor(deps: { db: Db; clock: { now(): Date }; outages: OutageLog }, limits: BatcherLimits) {
    this.#db = deps.db;
    this.#clock = deps.clock;
    this.#outages = deps.outages;
    this.#limits = limits;
  }

  get waitingCount(): number {
    return this.#batchers.values().reduce((sum, { itemCount }) => sum + itemCount, 0);
  }

  /** Resolves after the commit, or when the time limit has passed. */
  async write(hit: LiveHit): Promise<Written> {
    const found = this.#findBatcher(hit);
    const batcher = found instanceof Batcher ? found : await found;
    if (batcher === null) return { outcome: "database_unavailable" };
    const batched = await batcher.submit(hit);
    switch (batched.kind) {
      case "done":
        return batched.result;
      case "full":
        return { outcome: "queue_full" };
      case "late":
        return { outcome: "database_unavailable" };
      default:
        return batched satisfies never;
    }
  }

  /** Resolves when everything accepted has been settled. */
  async close(): Promise<void> {
    await Promise.all(this.#batchers.values().map((batcher) => batcher.idle()));
  }

  #findBatcher({ organizationId }: Hit): Batcher<LiveHit, Written> | Promise<Batcher<LiveHit, Written> | null> {
    const server = findServer(this.#db, organizationId);
    if (typeof server === "string") return this.#batcherOf(server);
    return server.then(
      (found) => this.#batcherOf(found),
      (error: unknown) => {
        this.#outages.failed(error);
        return null;
      },
    );
  }

  #batcherOf(server: string): Batcher<LiveHit, Written> {
    const batcher = this.#batchers.get(server) ?? new Batcher(this.#limits, (hits) => this.#record(hits));
    this.#batchers.set(server, batcher);
    return batcher;
  }

  async #record(hits: readonly LiveHit[]): Promise<Written[]> {
    noteEvents(hits.length);
    const written = await this.#recordAtServers(hits);
    // Every hit is on a server.
    return hits.map((hit) => written.get(hit) as Written);
  }

  async #recordAtServers(hits: readonly LiveHit[]): Promise<Map<LiveHit, Written>> {
    const written = await atServers(this.#db, hits, (parts) => this.#recordTogether(parts));
    return new Map(written.flatMap((some) => [...some]));
  }

  /** A server that is down fails only the organizations on it. */
  async #recordTogether(parts: readonly Part<LiveHit>[], retriesLeft = RETRIES_MAX): Promise<Map<LiveHit, Written>> {
    const now = this.#clock.now();
    const hits = parts.flatMap(({ rows }) => rows);
    try {
      const dropped = new Set((await Promise.all(parts.map(listOverBudget))).flat());
      const kept = parts
        .map(({ home, rows }) => ({ home, rows: rows.filter((hit) => !dropped.has(hit)) }))
        .filter(({ rows }) => rows.length > 0);
      const recorded = kept.length === 0 ? [] : await recordTogether(kept, { now, knownKeys: this.#knownKeys });
      await atHomes(this.#db, [...dropped], ({ writer }, some) => addDrops(writer, some, now));
      this.#outages.worked();
      const open = new Set(recorded.flatMap((each) => each.open));
      const created = new Set(recorded.flatMap((each) => each.created));
      const toWritten = (hit: LiveHit): Written => {
        if (dropped.has(hit)) return { outcome: "over_budget" };
        if (!open.has(hit.widgetId)) return { outcome: "paused" };
        return { outcome: "recorded", wasKnown: !created.has(toVisitName(hit)) };
      };
      return new Map(hits.map((hit) => [hit, toWritten(hit)]));
    } catch (error) {
      if (isMoved(this.#db, error)) throw error;
      const fault = toFault(error);
      if (fault === "conflict" && retriesLeft > 0) return await this.#recordTogether(parts, retriesLeft - 1);
      if (fault === "data" && hits.length > 1) return await this.#isolate(hits);
      if (fault === "data") return new Map(hits.map((hit) => [hit, { outcome: "malformed" }]));
      this.#outages.failed(error);
      return new Map(hits.map((hit) => [hit, { outcome: "database_unavailable" }]));
    }
  }

  /**
   * One hit that PostgreSQL cannot store must not fail the others: the batch is halved until the hit is alone. A half is
   * recorded once, even if a shard group moves before the other one is.
   */
  async #isolate(hits: readonly LiveHit[]): Promise<Map<LiveHit, Written>> {
    const middle = hits.length >> 1;
    return new Map([
      ...(await this.#recordAtServers(hits.slice(0, middle))),
      ...(await this.#recordAtServers(hits.slice(middle))),
    ]);
  }
}

/** Those that may not start a visit, of visits that are not recorded yet. */
async function listOverBudget({ home, rows: hits }: Part<LiveHit>): Promise<LiveHit[]> {
  const stopped = hits.filter(({ mayStart }) => !mayStart);
  if (stopped.length === 0) return [];
  const recorded = await listRecorded(home.reader, stopped);
  const known = new Set([...recorded, ...hits.filter(({ mayStart }) => mayStart)].map(toVisitName));
  return stopped.filter((hit) => !known.has(toVisitName(hit)));
}

/**
 * PostgreSQL's error classes: 40 lost to another transaction, 22 invalid values. Everything else is the server's fault.
 */
function toFault(error: unknown): "conflict" | "data" | "server" {
  const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  if (code.startsWith("40")) return "conflict";
  return code.startsWith("22") ? "data" : "server";
}
