import type { Touch } from "./touch.ts";

/** A visit as far as one batch tells; the database unites it with what it knows already, by the same rules. */
export type VisitPart = {
  /** Index of the touch that starts the visit. */
  startTouch: number;
  lastAt: Date;
  steps: number;
  conversions: Record<string, ConversionTimes> | null;
};

type ConversionTimes = readonly [atMs: number, startMs: number | null];

/** Unites the touches of each visit. The order of touches does not matter: every rule here is a minimum or a union. */
export function mergeTouches(touches: readonly Touch[]): VisitPart[] {
  const parts = new Map<string, VisitPart>();
  touches.forEach((touch, index) => {
    const visit = `${touch.widgetId} ${touch.visitId}`;
    const part = parts.get(visit);
    if (!part) {
      parts.set(visit, {
        startTouch: index,
        lastAt: touch.at,
        steps: touch.steps,
        conversions: addConversion(null, touch),
      });
      return;
    }
    const start = touches[part.startTouch];
    if (start && startsBefore(touch, start)) part.startTouch = index;
    if (touch.at > part.lastAt) part.lastAt = touch.at;
    part.steps |= touch.steps;
    part.conversions = addConversion(part.conversions, touch);
  });
  return [...parts.values()];
}

/** In the order in which record.ts and rebuild-queries.ts sort a visit's touches: the instant, then the class, byte by byte. */
export function startsBefore(a: Touch, b: Touch): boolean {
  if (a.at.getTime() !== b.at.getTime()) return a.at < b.at;
  for (const field of ["source", "medium", "campaign", "channel", "page", "device", "country"] as const) {
    const order = Buffer.compare(Buffer.from(a[field]), Buffer.from(b[field]));
    if (order !== 0) return order < 0;
  }
  return false;
}

function addConversion(conversions: VisitPart["conversions"], { at, conversion }: Touch): VisitPart["conversions"] {
  if (!conversion) return conversions;
  const name = `${conversion.step}:${conversion.key}`;
  const times: ConversionTimes = [at.getTime(), conversion.startAt?.getTime() ?? null];
  const known = conversions?.[name];
  return known && !isEarlier(times, known) ? conversions : { ...conversions, [name]: times };
}

/** By instant, then by appointment, a known one before an unknown. */
function isEarlier([at, start]: ConversionTimes, [otherAt, otherStart]: ConversionTimes): boolean {
  if (at !== otherAt) return at < otherAt;
  return (start ?? Number.POSITIVE_INFINITY) < (otherStart ?? Number.POSITIVE_INFINITY);
}
