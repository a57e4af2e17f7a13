import type { DeliveryId, OrganizationId } from "#contract/ids.ts";
import type { Home } from "../../db/citus/homes.ts";
import { reloadIfMoved } from "../../db/home.ts";
import { Alarm } from "../../lib/concurrency/alarm.ts";
import { repeat } from "../../lib/concurrency/pause.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import { EndpointCare } from "../health/health.ts";
import { REQUESTS_AT_ONCE_MAX } from "../queue/caps.ts";
import { claimDeliveries } from "../queue/claim.ts";
import { type ClaimedDelivery, leaseStored } from "../queue/claim-queries.ts";
import { ReportWriter } from "../queue/report-writer.ts";
import { Recovery } from "./recovery.ts";
import { Sender, type SenderDeps } from "./sender.ts";

// The loop that decides when to claim what is due at one home: the database, or a shard group of a cluster. It is always in one of
// these modes:
//
// - claiming: one claim at a time is under way. What it takes goes to the sender, which loads and sends it beside the next claim.
// - resting: nothing more can be sent now. The next claim starts when something changes that, when the next retry is due, and
//   every second, in case a notification was lost. What this process stores meanwhile is leased and sent without a claim, unless
//   something holds it back.
// - draining: more is due than the claim took. A claim costs about the same for one delivery as for fifty, so the next one waits
//   until half of the places are free, but not long.
// - full: every place is taken, so nothing but the end of a request helps.
//
// A claim leads to the mode that its result asks for, and the events in NEXT_CLAIM_MS lead from there to the next claim. No event is
// lost: what is heard during a claim is heard again when the claim is over. What was measured for each constant is in
// docs/decisions/0023-delivery-loop.md.
//
// Beside it, every second, the worker recovers what others left (recovery.ts). Claims don't wait for that.
//
// Any number of processes may run such loops. A loop that dies leaves its leases to the others. One whose shard group has moved finds
// nothing more to claim, until loop.ts stops it.

type Waiting = "resting" | "draining" | "full";

type LoopEvent =
  /** A booking was stored, or something else was queued or has become due. */
  | "queued"
  /** A request or a lease has ended, and a delivery is due that had no place. */
  | "place_free"
  /** The same, and half of the places are free. */
  | "half_free"
  /** A report was written of an organization whose caps were in the way. */
  | "reported"
  /** The same, and only failing endpoints of the organization have more to send. */
  | "failing_reported";

/**
 * How soon an event starts the next claim; null: it has to wait. Several reports and requests end within a few milliseconds of each
 * other, so one claim serves them all. A failing endpoint's next request mostly waits for a claim that comes anyway: with claims of
 * its own, a hung endpoint would delay the others.
 */
const NEXT_CLAIM_MS: Readonly<Record<Waiting, Readonly<Record<LoopEvent, number | null>>>> = {
  resting: { queued: 0, place_free: 20, half_free: 5, reported: 5, failing_reported: 50 },
  draining: { queued: null, place_free: null, half_free: 0, reported: null, failing_reported: null },
  full: { queued: null, place_free: 20, half_free: 0, reported: null, failing_reported: null },
};
export const POLL_MS = 1_000;
/** How long a mode lasts without an event. A retry ends the rest earlier. */
const LIMIT_MS: Readonly<Record<Waiting, number>> = { resting: POLL_MS, draining: 20, full: POLL_MS };
/** A rest lasts at least a millisecond for each delivery that was claimed, up to this: more arrive meanwhile. */
const REST_MS_MAX = 20;
const HALF = REQUESTS_AT_ONCE_MAX / 2;

export class ClaimLoop {
  readonly #deps: SenderDeps;
  readonly #home: Home;
  readonly #sender: Sender;
  readonly #recovery: Recovery;
  readonly #outage: OutageLog;
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  readonly #takingStored = new Set<Promise<void>>();
  /** Null while claiming. */
  #waiting: { readonly mode: Waiting; readonly alarm: Alarm; readonly restUntilMs: number } | null = null;
  /** What the last claims found. */
  #pass: Pass = beginPass();
  /** Heard since the last claim began, which may have read the queue before. */
  #heard = { isQueued: false, isPlaceFree: false, reported: new Set<OrganizationId>() };

  constructor(deps: SenderDeps, home: Home) {
    const writer = new ReportWriter(deps, new EndpointCare(deps));
    this.#deps = deps;
    this.#home = home;
    this.#sender = new Sender(deps, {
      home,
      writer,
      listener: {
        onPlaceFree: () => this.#hearPlace(),
        onReported: (owner) => this.#hearReport(owner),
        onRetrySoon: () => this.wake(),
      },
    });
    this.#recovery = new Recovery(deps, { home, writer, sender: this.#sender });
    this.#outage = new OutageLog(deps.log, { failed: "deliveries.claim_failed", resumed: "deliveries.claim_resumed" });
  }

  start(): void {
    const { signal } = this.#stopping;
    const recovering = repeat({ periodMs: POLL_MS, signal }, async () => {
      // Retries of a dead worker's deliveries are due at once.
      if (await this.#recovery.recover()) this.wake();
    });
    this.#running = Promise.all([this.#run(signal), recovering]);
  }

  setWorkerNumber(number: number | null): void {
    this.#sender.setWorkerNumber(number);
  }

  /**
   * Something is due now. While the loop rests, it takes what this process has just stored without a claim. Returns whether anything
   * due is taken at once: the loop was resting, and has room.
   */
  wake(stored: readonly DeliveryId[] = []): boolean {
    const isAtOnce = this.#waiting?.mode === "resting" && this.#sender.free >= HALF;
    if (isAtOnce && stored.length > 0) {
      const taking = this.#takeStored(stored).finally(() => this.#takingStored.delete(taking));
      this.#takingStored.add(taking);
    } else {
      this.#heard.isQueued = true;
      this.#hear("queued");
    }
    return isAtOnce;
  }

  /** Claims nothing more. Resolves when the requests in flight have ended and are reported; each ends by its timeout. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#sender.stop();
    this.#waiting?.alarm.wake();
    await Promise.all([this.#running, ...this.#takingStored]);
    await this.settled();
  }

  /** Resolves when every request in flight has ended and is reported. */
  async settled(): Promise<void> {
    await this.#sender.settled();
  }

  /** Recovers, claims and starts to send; returns how many requests were started. */
  async goRound(): Promise<number> {
    await this.#recovery.recoverIfDue(POLL_MS);
    return await this.#sender.send(await this.#claim());
  }

  /** What something holds back is left to a claim. */
  async #takeStored(ids: readonly DeliveryId[]): Promise<void> {
    const leased = await leaseStored(this.#home, ids, this.#sender.makeLease()).catch((error: unknown) => {
      this.#outage.failed(error);
      return [];
    });
    if (leased.length > 0) void this.#sender.send(leased);
    if (leased.length < ids.length) this.wake();
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let claimed: readonly ClaimedDelivery[] = [];
      try {
        claimed = await this.#claim();
        this.#outage.worked();
      } catch (error) {
        await reloadIfMoved(this.#deps.db, error);
        this.#outage.failed(error);
        this.#pass = beginPass();
      }
      void this.#sender.send(claimed);
      await this.#wait(this.#chooseMode(), claimed.length);
    }
  }

  #chooseMode(): Waiting {
    const { after, hasMore, hasClaimed } = this.#pass;
    if (this.#sender.free === 0) return "full";
    return after !== "" || (hasMore && hasClaimed) ? "draining" : "resting";
  }

  async #wait(mode: Waiting, claimed: number): Promise<void> {
    const restMs = mode === "resting" ? Math.min(REST_MS_MAX, claimed) : 0;
    const alarm = new Alarm();
    this.#waiting = { mode, alarm, restUntilMs: performance.now() + restMs };
    const { isQueued, isPlaceFree, reported } = this.#heard;
    if (isQueued) this.#hear("queued");
    for (const owner of reported) this.#hearReport(owner);
    if (isPlaceFree || mode === "draining") this.#hearPlace();
    const untilDueMs = mode === "resting" ? this.#pass.nextDueMs - this.#deps.clock.now().getTime() : LIMIT_MS[mode];
    if (!this.#stopping.signal.aborted) await alarm.wait(Math.min(LIMIT_MS[mode], Math.max(1, restMs, untilDueMs)));
    this.#waiting = null;
  }

  #hear(event: LoopEvent): void {
    if (!this.#waiting) return;
    const { mode, alarm, restUntilMs } = this.#waiting;
    const withinMs = NEXT_CLAIM_MS[mode][event];
    if (withinMs !== null) alarm.wakeWithin(Math.max(withinMs, restUntilMs - performance.now()));
  }

  #hearPlace(): void {
    this.#heard.isPlaceFree = true;
    const { after, hasMore } = this.#pass;
    if (after === "" && !hasMore && !this.#heard.isQueued) return;
    this.#hear(this.#sender.free >= HALF ? "half_free" : "place_free");
  }

  #hearReport(owner: OrganizationId): void {
    this.#heard.reported.add(owner);
    if (this.#pass.heldBack.has(owner)) this.#hear("reported");
    else if (this.#pass.heldBackByFailing.has(owner)) this.#hear("failing_reported");
  }

  async #claim(): Promise<readonly ClaimedDelivery[]> {
    this.#heard = { isQueued: false, isPlaceFree: false, reported: new Set() };
    const { free } = this.#sender;
    if (free === 0) {
      this.#pass.hasMore = true;
      return [];
    }
    const pass = this.#pass.after === "" ? beginPass() : this.#pass;
    const startClaim = () => ({ lease: this.#sender.makeLease(), free, after: pass.after });
    const { deliveries, after, hasMore, nextDueAt, ...held } = await claimDeliveries(this.#home, startClaim);
    this.#recovery.noteClaim();
    pass.after = after;
    pass.hasMore ||= hasMore;
    pass.hasClaimed ||= deliveries.length > 0;
    pass.nextDueMs = Math.min(pass.nextDueMs, nextDueAt?.getTime() ?? Number.POSITIVE_INFINITY);
    for (const owner of held.heldBack) pass.heldBack.add(owner);
    for (const owner of held.heldBackByFailing) pass.heldBackByFailing.add(owner);
    this.#pass = pass;
    return deliveries;
  }
}

/** One look at all lanes, in as many claims as it takes. */
type Pass = {
  /** The lane after which the next claim looks; empty once all lanes were seen. */
  after: string;
  /** More is due in the lanes seen than the worker could claim: it claims again when a request has ended. */
  hasMore: boolean;
  /** Some deliveries were claimed. */
  hasClaimed: boolean;
  /** When the first delivery is due that cannot be sent yet. */
  nextDueMs: number;
  /** Organizations with more to send: a report of one of their attempts makes room. */
  readonly heldBack: Set<OrganizationId>;
  /** The same for their failing endpoints. */
  readonly heldBackByFailing: Set<OrganizationId>;
};

function beginPass(): Pass {
  return {
    after: "",
    hasMore: false,
    hasClaimed: false,
    nextDueMs: Number.POSITIVE_INFINITY,
    heldBack: new Set(),
    heldBackByFailing: new Set(),
  };
}
