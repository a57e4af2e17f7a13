import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import type { Slot } from "../scheduling-system.ts";
import { toOpenIntervals, toStartTimes } from "../weekly-hours.ts";
import { CELL_MINUTES, type SandboxService, type SandboxSetup } from "./setup.ts";

// Pure. The available times of a sandbox: its hours and rules without the taken time. An appointment takes two resources, a member
// of staff and the room of its service, so a slot of a service goes to one visitor even if more staff are free.

const CELL_MS = CELL_MINUTES * MINUTE_MS;

/** A taken cell of a resource; see `toCellKey`. */
type TakenCells = ReadonlySet<string>;

type FreeTimesQuery = {
  readonly service: SandboxService;
  readonly staffId: string | null;
  readonly timeZone: string;
  readonly from: Date;
  readonly to: Date;
  readonly now: Date;
  readonly taken: TakenCells;
};

/** `staffIds` lists everyone who is free, even if visitors cannot choose. */
export function toFreeTimes(setup: SandboxSetup, query: FreeTimesQuery): Slot[] {
  const { service, now, taken } = query;
  const earliestMs = Math.max(query.from.getTime(), now.getTime() + setup.leadMinutes * MINUTE_MS);
  const endMs = Math.min(query.to.getTime(), now.getTime() + setup.horizonDays * DAY_MS);
  const staffByStart = new Map<number, string[]>();
  for (const member of setup.staff) {
    if (!service.staffIds.includes(member.id) || (query.staffId ?? member.id) !== member.id) continue;
    const open = toOpenIntervals(member.hours, query);
    for (const startMs of toStartTimes(open, { ...service, stepMinutes: setup.stepMinutes })) {
      if (startMs < earliestMs || startMs >= endMs || startMs <= now.getTime()) continue;
      const cells = toCells(service, new Date(startMs));
      const resources = toResources({ service, staffId: member.id });
      if (cells.some((cell) => resources.some((resource) => taken.has(toCellKey(resource, cell))))) continue;
      staffByStart.set(startMs, [...(staffByStart.get(startMs) ?? []), member.id]);
    }
  }
  return [...staffByStart]
    .sort(([a], [b]) => a - b)
    .map(([startMs, staffIds]) => ({
      startAt: new Date(startMs),
      endAt: new Date(startMs + service.durationMinutes * MINUTE_MS),
      staffIds,
    }));
}

export function toResources(taker: { service: SandboxService; staffId: string }): string[] {
  return [`room:${taker.service.id}`, `staff:${taker.staffId}`];
}

/** All resources that the available times of a service depend on. */
export function toAllResources(service: SandboxService): string[] {
  return [`room:${service.id}`, ...service.staffIds.map((id) => `staff:${id}`)];
}

/** The cells that an appointment takes, including buffers, sorted. */
export function toCells(service: SandboxService, startAt: Date): Date[] {
  const { fromMs, toMs } = toTakenMs(service, startAt);
  const cells: Date[] = [];
  for (let atMs = fromMs; atMs < toMs; atMs += CELL_MS) cells.push(new Date(atMs));
  return cells;
}

export function toCellKey(resource: string, cell: Date): string {
  return `${resource} ${cell.getTime()}`;
}

/** The range in which an appointment can collide with one that starts between `from` and `to`. */
export function toTakenRange(service: SandboxService, query: { from: Date; to: Date }): { from: Date; to: Date } {
  return {
    from: new Date(toTakenMs(service, query.from).fromMs),
    to: new Date(toTakenMs(service, query.to).toMs),
  };
}

function toTakenMs(service: SandboxService, startAt: Date): { fromMs: number; toMs: number } {
  return {
    fromMs: startAt.getTime() - service.bufferBeforeMinutes * MINUTE_MS,
    toMs: startAt.getTime() + (service.durationMinutes + service.bufferAfterMinutes) * MINUTE_MS,
  };
}
