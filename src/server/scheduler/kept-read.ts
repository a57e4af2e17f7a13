import type { Clock } from "../lib/time/clock.ts";
import { toAbortCode } from "./outbound.ts";
import { type Failure, found, isOverLimit, type Read, unavailable } from "./scheduling-system.ts";

/**
 * A read whose result is kept for a while and shared by everyone who asks at the same time. It has a time limit of its own,
 * so a caller who leaves doesn't end it for the others. Failures are reported to everyone who waits, and not kept.
 */
export type KeptRead<T> = {
  /**
   * `admit` is called before a value is read that nobody else is reading already. It may refuse that. While a read is over a limit,
   * an older value is returned if there is one.
   */
  get(signal: AbortSignal, admit?: (isKnown: boolean) => Failure | null): Promise<Read<T>>;
  /** Reads again, bypassing the kept value. */
  refresh(signal: AbortSignal): Promise<Read<T>>;
  /** Drops this value, unless a newer one has replaced it. */
  forget(value: T): void;
};

export function createKeptRead<T>(
  deps: { clock: Clock },
  options: {
    timeoutMs: number;
    toKeptMs: (value: T) => number;
    /** How much longer a value may be returned while a new one is over a limit. */
    olderMs?: number;
    /** False once something has happened that the value cannot know. */
    isCurrent?: (value: T) => boolean;
    load: (signal: AbortSignal) => Promise<Read<T>>;
  },
): KeptRead<T> {
  let kept: { readonly value: T; readonly readAtMs: number; readonly keptMs: number } | null = null;
  let underWay: Promise<Read<T>> | null = null;

  const load = async (): Promise<Read<T>> => {
    const read = await options.load(AbortSignal.timeout(options.timeoutMs));
    if (read.kind === "found") {
      kept = { value: read.value, readAtMs: deps.clock.now().getTime(), keptMs: options.toKeptMs(read.value) };
    }
    return read;
  };
  const refresh = async (signal: AbortSignal): Promise<Read<T>> => {
    if (signal.aborted) return toGivenUp(signal);
    underWay ??= load().finally(() => {
      underWay = null;
    });
    return await untilAborted(underWay, signal);
  };
  return {
    refresh,
    get: async (signal, admit) => {
      // A clock that was set back must not keep a value for longer.
      const ageMs = Math.abs(deps.clock.now().getTime() - (kept?.readAtMs ?? 0));
      if (kept !== null && ageMs < kept.keptMs && (options.isCurrent?.(kept.value) ?? true)) return found(kept.value);
      const older = kept !== null && ageMs < kept.keptMs + (options.olderMs ?? 0) ? found(kept.value) : null;
      const refusal = underWay === null && !signal.aborted ? (admit?.(older !== null) ?? null) : null;
      const read = refusal ?? (await refresh(signal));
      return older !== null && isOverLimit(read) ? older : read;
    },
    forget: (value) => {
      if (kept?.value === value) kept = null;
    },
  };
}

async function untilAborted<T>(read: Promise<Read<T>>, signal: AbortSignal): Promise<Read<T>> {
  const { promise, resolve } = Promise.withResolvers<Read<T>>();
  const giveUp = (): void => resolve(toGivenUp(signal));
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    return await Promise.race([read, promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function toGivenUp(signal: AbortSignal): Failure {
  return unavailable({ status: null, requestId: null, failure: toAbortCode(signal) });
}
