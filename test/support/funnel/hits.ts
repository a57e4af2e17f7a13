import type { Step } from "#contract/analytics/steps.ts";
import type { WidgetId } from "#contract/ids.ts";
import { type Hit, toStepBit, type VisitClass } from "../../../src/server/analytics/record/hit.ts";
import { ownerOf } from "../builders.ts";

export const DIRECT: VisitClass = {
  source: "(direct)",
  medium: "(none)",
  campaign: "(not set)",
  channel: "Direct",
};

/** What is recorded for a visitor about whom nothing is known. */
export const DIRECT_HIT = {
  ...DIRECT,
  visitId: "6f1c1d9e-7b0a-4a51-9d7e-0c1b5a3f2e44",
  page: "",
  device: "other",
  country: "",
} as const;

export const SEARCH_AD: VisitClass = { source: "google", medium: "cpc", campaign: "Autumn", channel: "Paid Search" };

/** A visit id for each number. */
export function visitId(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

/** One step of one visit. Each booking in a visit has its own `booking`. */
export function makeHit(fields: {
  widgetId: WidgetId;
  visit: number;
  at: Date | string;
  step?: Step;
  class?: VisitClass;
  booking?: string;
  startAt?: string;
}): Hit {
  const step = fields.step ?? "widget_viewed";
  const isConversion = step === "booking_completed" || step === "booking_failed";
  const startAt = fields.startAt === undefined ? null : new Date(fields.startAt);
  return {
    ...(fields.class ?? DIRECT),
    organizationId: ownerOf(fields.widgetId),
    widgetId: fields.widgetId,
    visitId: visitId(fields.visit),
    at: new Date(fields.at),
    steps: toStepBit(step),
    page: "https://example.com/book",
    device: "mobile",
    country: "DE",
    conversion: isConversion ? { step, key: fields.booking ?? "a", startAt } : null,
  };
}
