import type { ConnectionErrorCode } from "#contract/app/connections.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import type { ConnectionId, OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import {
  type BookOutcome,
  type Failure,
  type FindOutcome,
  isOverLimit,
  overLimit,
  type Read,
  type SchedulingSystem,
  type Upstream,
  unavailable,
} from "../scheduling-system.ts";
import { recordConnectionError, recordConnectionOk } from "./queries.ts";

// The health of a connection: stored for its owners, and kept in memory so that a system that is down, or asked us to wait, is
// left alone for a while instead of getting every visitor's request.
//
// | result                          | health              | asked again                          |
// |---------------------------------|---------------------|--------------------------------------|
// | any reply, even "slot taken"    | ok                  | at once                              |
// | refused: credentials, not found | the reason          | at once                              |
// | unavailable, unknown            | the error           | after the wait it asked for; after   |
// |                                 |                     | five in a row, half a minute later   |
//
// Looking up a reference is never held back, because it decides what a visitor is told.

type Outcome = Read<unknown> | FindOutcome | BookOutcome;

const FAILURES_BEFORE_PAUSE = 5;
const PAUSE_MS = 30_000;
/** The longest wait that a system can ask for. */
const PAUSE_MS_MAX = 5 * MINUTE_MS;
const OK_WRITTEN_EVERY_MS = MINUTE_MS;
const ERROR_WRITTEN_EVERY_MS = 10_000;

export class ConnectionHealth {
  readonly #deps: Pick<Deps, "db" | "clock" | "log">;
  readonly #owner: OrganizationId;
  readonly #id: ConnectionId;
  #failuresInRow = 0;
  /** Everyone who waits for the same request gets the same failure (kept-read.ts), which counts once. */
  readonly #counted = new WeakSet<Outcome>();
  #pausedUntilMs = 0;
  /** Why: the system works, but we sent too much. */
  #isOverLimit = false;
  #written: { what: string; atMs: number } | null = null;

  constructor(deps: Pick<Deps, "db" | "clock" | "log">, connection: { owner: OrganizationId; id: ConnectionId }) {
    this.#deps = deps;
    this.#owner = connection.owner;
    this.#id = connection.id;
  }

  /** Null if requests may be sent to the system. A clock that was set back must not make a pause longer than the longest. */
  findPause(): Failure | null {
    const leftMs = this.#pausedUntilMs - this.#deps.clock.now().getTime();
    if (leftMs <= 0 || leftMs > PAUSE_MS_MAX) return null;
    return this.#isOverLimit ? overLimit("account", leftMs) : unavailable(null, leftMs);
  }

  async note(outcome: Outcome): Promise<void> {
    const now = this.#deps.clock.now();
    const error = toError(outcome);
    if (error === "unsaid") return;
    if (error === null) this.#failuresInRow = 0;
    else if (outcome.kind === "unavailable" || outcome.kind === "unknown") this.#pause(outcome, now);
    await this.#write(error, now);
  }

  #pause(outcome: Outcome, now: Date): void {
    if (this.#counted.has(outcome)) return;
    this.#counted.add(outcome);
    this.#failuresInRow++;
    const askedMs = outcome.kind === "unavailable" ? (outcome.retryAfterMs ?? 0) : 0;
    const ownMs = this.#failuresInRow >= FAILURES_BEFORE_PAUSE ? PAUSE_MS : 0;
    const waitMs = Math.min(Math.max(askedMs, ownMs), PAUSE_MS_MAX);
    const pausedUntilMs = this.findPause() === null ? 0 : this.#pausedUntilMs;
    this.#pausedUntilMs = Math.max(pausedUntilMs, now.getTime() + waitMs);
    this.#isOverLimit = isOverLimit(outcome);
  }

  /** Not for every call, because many visitors would write the same row. A failed write never changes an outcome. */
  async #write(error: HealthError | null, now: Date): Promise<void> {
    const what = error?.word ?? "";
    const everyMs = error === null ? OK_WRITTEN_EVERY_MS : ERROR_WRITTEN_EVERY_MS;
    if (this.#written?.what === what && Math.abs(now.getTime() - this.#written.atMs) < everyMs) return;
    this.#written = { what, atMs: now.getTime() };
    const connection = { id: this.#id, now };
    const written =
      error === null
        ? recordConnectionOk(this.#deps.db, this.#owner, connection)
        : recordConnectionError(this.#deps.db, this.#owner, { ...connection, ...error });
    await written.catch((cause: unknown) => {
      this.#deps.log.warn("connection.health_not_recorded", { organizationId: this.#owner, error: cause });
    });
  }
}

type HealthError = { word: ConnectionErrorCode; status: number | null; requestId: string | null };

/** Null if the system works. "unsaid" if it got no request, or the caller left before it answered. */
function toError(outcome: Outcome): HealthError | null | "unsaid" {
  switch (outcome.kind) {
    case "found":
    case "absent":
    case "booked":
    case "slot_taken":
      return null;
    case "refused":
      if (outcome.upstream === null) return "unsaid";
      return outcome.reason === "credentials" || outcome.reason === "not_found"
        ? toHealthError(outcome.reason, outcome.upstream)
        : null;
    case "unavailable":
    case "unknown":
      return outcome.upstream === null ? "unsaid" : toUpstreamError(outcome.upstream);
    default:
      return outcome satisfies never;
  }
}

function toUpstreamError(upstream: Upstream): HealthError | "unsaid" {
  const { failure } = upstream;
  switch (failure) {
    case "aborted":
    case "unsealed":
    case "settings":
    case "database":
      return "unsaid";
    default:
      return toHealthError(failure ?? "http_status", upstream);
  }
}

function toHealthError(word: ConnectionErrorCode, { status, requestId }: Upstream): HealthError {
  return { word, status, requestId };
}

/** Records the outcome of every operation. Services mostly come from memory, so only their failures count. */
export function watchSystem(system: SchedulingSystem, health: ConnectionHealth): SchedulingSystem {
  const noted = async <T extends Outcome>(outcome: T): Promise<T> => {
    await health.note(outcome);
    return outcome;
  };
  const { listChanged } = system;
  return {
    kind: system.kind,
    mode: system.mode,
    verify: async (signal) => noted(await system.verify(signal)),
    listServices: async (signal) => {
      const pause = health.findPause();
      // Services are mostly known, and nothing is sent beyond the account's budget.
      const read = pause !== null && !isOverLimit(pause) ? pause : await system.listServices(signal);
      return read.kind === "found" ? read : noted(read);
    },
    listSlots: async (query, signal) => noted(health.findPause() ?? (await system.listSlots(query, signal))),
    book: async (request, signal) => noted(health.findPause() ?? (await system.book(request, signal))),
    findByReference: async (sought, signal) => noted(await system.findByReference(sought, signal)),
    follow: async (appointment, signal) => {
      const read = await system.follow(appointment, signal);
      // One appointment that the system doesn't know says nothing about the connection.
      return read.kind === "refused" && read.reason === "not_found" ? read : noted(read);
    },
    listChanged: listChanged && (async (query, signal) => noted(await listChanged(query, signal))),
    // A system without notices works all the same.
    subscriptions: system.subscriptions,
    cancel: async (appointment, signal) => noted(await system.cancel(appointment, signal)),
  };
}
