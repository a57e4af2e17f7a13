import type { Clock } from "../lib/time/clock.ts";
import { toAbortCode } from "./outbound.ts";
import { type Failure, type Read, unavailable } from "./scheduling-system.ts";

/**
 * A read whose result is kept for a while and shared by everyone who asks at the same time. It has a time limit of its own,
 * so a caller who leaves doesn't end it for the others. Failures are reported to everyone who waits, and not kept.
 */
export type KeptRead<T> = {
  get(signal: AbortSignal): Promise<Read<T>>;
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
    load: (signal: AbortSignal) => Promise<Read<T>>;
  },
): KeptRead<T> {
  let kept: { readonly value: T; readonly untilMs: number } | null = null;
  let underWay: Promise<Read<T>> | null = null;

  const load = async (): Promise<Read<T>> => {
    const read = await options.load(AbortSignal.timeout(options.timeoutMs));
    if (read.kind === "found") {
      kept = { value: read.value, untilMs: deps.clock.now().getTime() + options.toKeptMs(read.value) };
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
    get: async (signal) =>
      kept !== null && deps.clock.now().getTime() < kept.untilMs
        ? { kind: "found", value: kept.value }
        : await refresh(signal),
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
