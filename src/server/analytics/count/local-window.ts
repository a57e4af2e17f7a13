import { DAY_MS, SECOND_MS } from "#contract/durations.ts";
import type { ZoneRules } from "../../lib/time/zone-rules.ts";

// A window of local days as instants, for counting visits.

type Offset = ZoneRules["offsets"][number];

export type LocalWindow = {
  /** First instant, and the first one after; equal if the window has no days. */
  startMs: number;
  endMs: number;
  /** The offsets between the two, oldest first. */
  offsets: readonly Offset[];
};

export type WindowDays = {
  from: string;
  to: string;
  /** Leaves out what happened on the last day at this time of day or later. */
  untilTime?: TimeOfDay | undefined;
};

/** Milliseconds since local midnight. */
export type TimeOfDay = number;

export function toLocalWindow({ offsets: all }: ZoneRules, { from, to, untilTime = DAY_MS }: WindowDays): LocalWindow {
  const [firstMs, lastMs] = [Date.parse(from), Date.parse(to) + untilTime];
  // Each offset has its own part of the local window. Together they are contiguous unless clocks went back around midnight.
  const offsets: Offset[] = [];
  for (const { fromMs, untilMs, seconds } of all) {
    const startMs = Math.max(fromMs, firstMs - seconds * SECOND_MS);
    const endMs = Math.min(untilMs, lastMs - seconds * SECOND_MS);
    if (startMs < endMs) offsets.push({ fromMs: startMs, untilMs: endMs, seconds });
  }
  const startMs = offsets[0]?.fromMs ?? firstMs;
  return { startMs, endMs: offsets.at(-1)?.untilMs ?? startMs, offsets };
}
