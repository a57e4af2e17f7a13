import { useMemo, useState } from "preact/hooks";
import type { FreeSlot } from "#contract/book.ts";
import type { Api } from "./api.ts";
import { currentMs } from "./environment.ts";
import { replaceSlots, SPAN_MAX_MS, withoutTaken } from "./slots.ts";
import { useWhen } from "./use-when.ts";

/** So far ahead free times are looked for before the visitor is told that there are none. */
const SEARCH_SPANS = 2;

type Choice = { readonly service: string; readonly staff: string | null };

type Times = {
  readonly key: string;
  readonly slots: readonly FreeSlot[];
  readonly fromMs: number;
  readonly loadedToMs: number;
  readonly wantedToMs: number;
  readonly isFailed: boolean;
};

export type FreeTimes = {
  readonly slots: readonly FreeSlot[];
  readonly loadedToMs: number;
  readonly isFailed: boolean;
  readonly isLoading: boolean;
  /** Nothing is free as far ahead as was looked. */
  readonly isEmpty: boolean;
  loadUpTo(toMs: number): void;
  retry(): void;
  /** After a booking: what was free before may be so no longer. */
  forget(): void;
  leaveOut(taken: { start: string; fresh: readonly FreeSlot[] }): void;
};

/** The free times of what was chosen; they stay while the visitor goes forth and back. */
export function useFreeTimes(api: Api, choice: Choice | null): FreeTimes {
  const key = choice === null ? "" : JSON.stringify([choice.service, choice.staff]);
  const [kept, setTimes] = useState<Times | null>(null);
  const fresh = useMemo(() => startTimes(key), [key]);
  const pick = (known: Times | null) => (known?.key === key ? known : fresh);
  const change = (to: (times: Times) => Times) => setTimes((known) => to(pick(known)));
  const times = pick(kept);
  const { loadedToMs, wantedToMs, isFailed } = times;
  const isLoading = choice !== null && !isFailed && loadedToMs < wantedToMs;

  useWhen([key, loadedToMs, wantedToMs, isFailed], () => {
    if (choice === null || !isLoading) return;
    let isCurrent = true;
    const span = { fromMs: loadedToMs, toMs: wantedToMs };
    void api.loadSlots({ ...choice, span }).then((answer) => {
      if (!isCurrent) return;
      if (answer.kind === "failed") return change((known) => ({ ...known, isFailed: true }));
      change((known) =>
        extend({ ...known, slots: replaceSlots(known.slots, span, answer.value), loadedToMs: span.toMs }),
      );
    });
    return () => {
      isCurrent = false;
    };
  });

  return {
    slots: times.slots,
    loadedToMs,
    isFailed,
    isLoading,
    isEmpty: choice !== null && !isLoading && !isFailed && times.slots.length === 0,
    loadUpTo: (toMs) => change((known) => ({ ...known, wantedToMs: Math.max(known.wantedToMs, toMs) })),
    retry: () => change((known) => ({ ...known, isFailed: false })),
    leaveOut: (taken) => change((known) => ({ ...known, slots: withoutTaken(known.slots, taken) })),
    forget: () => setTimes(null),
  };
}

function startTimes(key: string): Times {
  const fromMs = currentMs();
  return { key, slots: [], fromMs, loadedToMs: fromMs, wantedToMs: fromMs + SPAN_MAX_MS, isFailed: false };
}

/** Looks further ahead while nothing was found. */
function extend(times: Times): Times {
  const isSearching = times.slots.length === 0 && times.loadedToMs < times.fromMs + SEARCH_SPANS * SPAN_MAX_MS;
  return isSearching ? { ...times, wantedToMs: Math.max(times.wantedToMs, times.loadedToMs + SPAN_MAX_MS) } : times;
}
