import fc from "fast-check";
import { STEPS } from "#contract/analytics/steps.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { WidgetId } from "#contract/ids.ts";
import { type Hit, toStepBit, type VisitClass } from "../../../src/server/analytics/record/hit.ts";
import { ownerOf } from "../builders.ts";
import { DIRECT, SEARCH_AD } from "./hits.ts";

// Random visits for property tests: few instants, classes and bookings each, so that hits often tie and contradict.

const CLASSES: readonly VisitClass[] = [
  DIRECT,
  SEARCH_AD,
  { source: "google", medium: "organic", campaign: "(not set)", channel: "Organic Search" },
  { source: "newsletter", medium: "email", campaign: "autumn", channel: "Email" },
  { source: "ñandú 🦤", medium: "qr", campaign: "Ünïcode", channel: "Unassigned" },
];

export type HitRange = { widgets: readonly WidgetId[]; from: Date; to: Date };

/** The hits of up to `visitsMax` visits between the two instants. */
export function hitsOfVisits(range: HitRange, visitsMax: number): fc.Arbitrary<Hit[]> {
  return fc.array(hitsOfOneVisit(range), { minLength: 1, maxLength: visitsMax }).map((visits) => visits.flat());
}

function hitsOfOneVisit({ widgets, from, to }: HitRange): fc.Arbitrary<Hit[]> {
  const instant = fc.integer({ min: from.getTime(), max: to.getTime() }).map((ms) => new Date(ms));
  return fc
    .record({
      widgetId: fc.constantFrom(...widgets),
      visitId: fc.uuid(),
      times: fc.array(instant, { minLength: 1, maxLength: 3 }),
    })
    .chain((visit) => fc.array(oneHit(visit), { minLength: 1, maxLength: 8 }));
}

function oneHit(visit: { widgetId: WidgetId; visitId: string; times: readonly Date[] }): fc.Arbitrary<Hit> {
  return fc
    .record({
      at: fc.constantFrom(...visit.times),
      step: fc.constantFrom(...STEPS),
      class: fc.constantFrom(...CLASSES),
      page: fc.constantFrom("", "https://example.com/book", "https://example.com/preise"),
      device: fc.constantFrom("mobile", "desktop"),
      country: fc.constantFrom("DE", "AT", ""),
      booking: fc.constantFrom("a", "b"),
      leadMs: fc.option(fc.integer({ min: -DAY_MS, max: 40 * DAY_MS })),
      service: fc.constantFrom(undefined, "Check-up", "Zahnreinigung 🦷"),
    })
    .map((drawn) => ({
      ...drawn.class,
      organizationId: ownerOf(visit.widgetId),
      widgetId: visit.widgetId,
      visitId: visit.visitId,
      at: drawn.at,
      steps: toStepBit(drawn.step),
      page: drawn.page,
      device: drawn.device,
      country: drawn.country,
      conversion: toConversion(drawn),
    }));
}

function toConversion(drawn: {
  at: Date;
  step: (typeof STEPS)[number];
  booking: string;
  leadMs: number | null;
  service: string | undefined;
}): Hit["conversion"] {
  const { at, step, booking, leadMs, service } = drawn;
  if (step === "booking_failed") return { step, key: booking, startAt: null };
  if (step !== "booking_completed") return null;
  const startAt = leadMs === null ? null : new Date(at.getTime() + leadMs);
  return { step, key: booking, startAt, ...(service ? { service } : {}) };
}

/** The same hits for the same seed. */
export function sampleHits(range: HitRange, { visits, seed }: { visits: number; seed: number }): Hit[] {
  return fc.sample(hitsOfOneVisit(range), { seed, numRuns: visits }).flat();
}
