import { useMemo, useState } from "preact/hooks";
import { DAY_MS } from "#contract/durations.ts";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import type { Api, LoadFailure } from "../api.ts";
import { currentMs } from "../environment.ts";
import { useWhen } from "../use-when.ts";
import { RANGE_MAX_MS, replaceSlots, withoutTaken } from "./slots.ts";

/** How far ahead we look before telling the visitor that there are no available times. */
const SEARCH_SPANS = 2;

type Choice = { readonly service: string; readonly staff: string | null };

type Times = {
  readonly key: string;
  readonly slots: readonly FreeSlot[];
  readonly fromMs: number;
  readonly loadedToMs: number;
  readonly wantedToMs: number;
  readonly failure: LoadFailure | null;
};

export type FreeTimes = {
  readonly slots: readonly FreeSlot[];
  readonly loadedToMs: number;
  readonly failure: LoadFailure | null;
  readonly isLoading: boolean;
  /** There are no available times as far ahead as we looked. */
  readonly isEmpty: boolean;
  loadUpTo(toMs: number): void;
  retry(): void;
  /** For use after a booking, when available times may have been taken. */
  forget(): void;
  leaveOut(taken: { start: string; fresh: readonly FreeSlot[] }): void;
};

/** The available times of the chosen service and staff. They are kept while the visitor moves between steps. */
export function useFreeTimes(api: Api, choice: Choice | null): FreeTimes {
  const key = choice === null ? "" : JSON.stringify([choice.service, choice.staff]);
  const [kept, setTimes] = useState<Times | null>(null);
  const fresh = useMemo(() => startTimes(key), [key]);
  const pick = (known: Times | null) => (known?.key === key ? known : fresh);
  const change = (to: (times: Times) => Times) => setTimes((known) => to(pick(known)));
  const times = pick(kept);
  const { loadedToMs, wantedToMs, failure } = times;
  const isLoading = choice !== null && failure === null && loadedToMs < wantedToMs;

  useWhen([key, loadedToMs, wantedToMs, failure], () => {
    if (choice === null || !isLoading) return;
    let isCurrent = true;
    const range = { fromMs: loadedToMs, toMs: wantedToMs };
    void api.loadSlots({ ...choice, range }).then((loaded) => {
      if (!isCurrent) return;
      if (loaded.kind === "failed") return change((known) => ({ ...known, failure: loaded.failure }));
      change((known) =>
        extend({ ...known, slots: replaceSlots(known.slots, range, loaded.value), loadedToMs: range.toMs }),
      );
    });
    return () => {
      isCurrent = false;
    };
  });

  return {
    slots: times.slots,
    loadedToMs,
    failure,
    isLoading,
    isEmpty: choice !== null && !isLoading && failure === null && times.slots.length === 0,
    loadUpTo: (toMs) => change((known) => ({ ...known, wantedToMs: Math.max(known.wantedToMs, toDayEnd(toMs)) })),
    retry: () => change((known) => ({ ...known, failure: null })),
    leaveOut: (taken) => change((known) => ({ ...known, slots: withoutTaken(known.slots, taken) })),
    forget: () => setTimes(null),
  };
}

function startTimes(key: string): Times {
  const fromMs = currentMs();
  const wantedToMs = toDayEnd(fromMs + RANGE_MAX_MS - DAY_MS);
  return { key, slots: [], fromMs, loadedToMs: fromMs, wantedToMs, failure: null };
}

/** Spans end with a day in UTC, because the server shares whole days among visitors. */
function toDayEnd(ms: number): number {
  return Math.ceil(ms / DAY_MS) * DAY_MS;
}

/** Looks further ahead until it finds something. */
function extend(times: Times): Times {
  const isSearching = times.slots.length === 0 && times.loadedToMs < times.fromMs + SEARCH_SPANS * RANGE_MAX_MS;
  return isSearching ? { ...times, wantedToMs: Math.max(times.wantedToMs, times.loadedToMs + RANGE_MAX_MS) } : times;
}
