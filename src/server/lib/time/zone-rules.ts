import { hash } from "node:crypto";
import { DAY_MS, SECOND_MS } from "#contract/durations.ts";
import { findFirst } from "../find-first.ts";
import { RecentMap } from "../recent-map.ts";

// A time zone's rules in the runtime, as a list of offsets. All code and all statements that convert instants to local
// days use these lists, so they agree whatever the database server knows.

type ZoneOffset = { readonly fromMs: number; readonly untilMs: number; readonly seconds: number };

export type ZoneRules = {
  /** Identifies these offsets: the zone, and a hash of the list. */
  readonly id: string;
  /** Oldest first, without gaps. The first begins and the last ends at infinity. */
  readonly offsets: readonly [ZoneOffset, ...ZoneOffset[]];
};

/** Clock changes outside these years are not listed; the nearest known offset applies. */
const FIRST_MS = Date.UTC(1970, 0, 1);
const LAST_MS = Date.UTC(2101, 0, 1);

const ZONES_KEPT = 1_000;
const known = new RecentMap<string, ZoneRules>(ZONES_KEPT);

/** The runtime must know the zone (`parseTimeZone`). Reading a zone's rules takes a few milliseconds, once. */
export function readZoneRules(zone: string): ZoneRules {
  const read = known.get(zone);
  if (read) return read;
  const offsets = listOffsets(zone);
  const text = offsets.map(({ fromMs, seconds }) => `${fromMs} ${seconds}`).join("\n");
  const rules: ZoneRules = { id: `${zone} ${hash("sha256", text).slice(0, 12)}`, offsets };
  known.set(zone, rules);
  return rules;
}

/** YYYY-MM-DD. */
export function toLocalDay(rules: ZoneRules, instant: Date): string {
  return toDayText(Math.floor(toLocalMs(rules, instant) / DAY_MS));
}

/** The day that is this many days after 1 January 1970, as YYYY-MM-DD. */
export function toDayText(dayNumber: number): string {
  return new Date(dayNumber * DAY_MS).toISOString().slice(0, "YYYY-MM-DD".length);
}

/** Milliseconds since local midnight. */
export function toTimeOfDayMs(rules: ZoneRules, instant: Date): number {
  const localMs = toLocalMs(rules, instant);
  return localMs - Math.floor(localMs / DAY_MS) * DAY_MS;
}

/** What calendar and clock show, as milliseconds since the same reading in 1970. */
function toLocalMs(rules: ZoneRules, instant: Date): number {
  const ms = instant.getTime();
  return ms + findOffset(rules, ms).seconds * SECOND_MS;
}

function findOffset({ offsets }: ZoneRules, ms: number): ZoneOffset {
  return offsets[findFirst(offsets, ({ fromMs }) => fromMs > ms) - 1] ?? offsets[0];
}

function listOffsets(zone: string): ZoneRules["offsets"] {
  let at = Temporal.Instant.fromEpochMilliseconds(FIRST_MS).toZonedDateTimeISO(zone);
  const starts = [{ ms: Number.NEGATIVE_INFINITY, seconds: at.offsetNanoseconds / 1e9 }];
  for (;;) {
    const next = at.getTimeZoneTransition("next");
    if (next === null || next.epochMilliseconds >= LAST_MS) break;
    starts.push({ ms: next.epochMilliseconds, seconds: next.offsetNanoseconds / 1e9 });
    at = next;
  }
  const offsets = starts.map(({ ms, seconds }, i) => ({
    fromMs: ms,
    untilMs: starts[i + 1]?.ms ?? Number.POSITIVE_INFINITY,
    seconds,
  }));
  // The first entry begins at minus infinity, so there is always a match.
  return offsets as [ZoneOffset, ...ZoneOffset[]];
}
