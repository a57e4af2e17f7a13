import type { KnownAppointment } from "./scheduling-system.ts";

type ListedAppointment = {
  readonly externalId: string;
  readonly startAt: Date | null;
  readonly endAt: Date | null;
};

/** The ids of known appointments that are listed differently, or not at all. `listed` has those that take place. */
export function findDifferent(known: readonly KnownAppointment[], listed: readonly ListedAppointment[]): string[] {
  const byId = new Map(listed.map((appointment) => [appointment.externalId, appointment]));
  const isDifferent = ({ externalId, startAt, endAt, isCancelled }: KnownAppointment) => {
    const now = byId.get(externalId);
    if (now === undefined || isCancelled) return isCancelled !== (now === undefined);
    return now.startAt?.getTime() !== startAt.getTime() || now.endAt?.getTime() !== endAt.getTime();
  };
  return known.filter(isDifferent).map(({ externalId }) => externalId);
}

/** From now to the end of the last known appointment; null if there is none. */
export function toKnownRange(known: readonly KnownAppointment[], now: Date): { from: Date; to: Date } | null {
  const to = Math.max(...known.map(({ endAt }) => endAt.getTime()));
  const from = Math.min(now.getTime(), ...known.map(({ startAt }) => startAt.getTime()));
  return known.length === 0 || to <= from ? null : { from: new Date(from), to: new Date(to) };
}
