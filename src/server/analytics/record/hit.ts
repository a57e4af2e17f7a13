import { STEPS, type Step } from "#contract/analytics/steps.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";

// Recording takes hits: the steps that one visit took at one instant. A browser's request is one hit, and so is a line of
// an import. Steps are passed as a set of bits.

export type VisitClass = {
  source: string;
  medium: string;
  /** "(not set)" if there is no campaign. */
  campaign: string;
  channel: string;
};

/** What a visit is counted under. `page`, `device` and `country` are "" if unknown. */
export type VisitFacts = VisitClass & { page: string; device: string; country: string };

export type Hit = VisitFacts & {
  organizationId: OrganizationId;
  widgetId: WidgetId;
  visitId: string;
  at: Date;
  /** Bits; see `toStepBit`. */
  steps: number;
  /** Present only with booking_completed and booking_failed. */
  conversion: Conversion | null;
};

export type Conversion = {
  step: "booking_completed" | "booking_failed";
  /** Distinguishes the bookings, or failed attempts, of one visit. It is stored, so it must not identify a booking. */
  key: string;
  /** Appointment; only the time until then is stored. */
  startAt: Date | null;
  /** The name of the service that was booked, if it is known; at most SERVICE_LENGTH_MAX characters are kept. */
  service?: string;
};

/** Distinguishes visits: widgets have different ids in all organizations. */
export function toVisitName({ widgetId, visitId }: Pick<Hit, "widgetId" | "visitId">): string {
  return `${widgetId} ${visitId}`;
}

export function toStepBit(step: Step): number {
  return 1 << STEPS.indexOf(step);
}
