import type { WidgetId } from "#contract/ids.ts";
import type { Step } from "#contract/steps.ts";
import { type Touch, toStepBit, type VisitClass } from "../../src/server/funnel/record/touch.ts";
import { ownerOf } from "./builders.ts";

export const DIRECT: VisitClass = {
  source: "(direct)",
  medium: "(none)",
  campaign: "(not set)",
  channel: "Direct",
};

/** What is recorded of a visitor of whom nothing is known. */
export const DIRECT_TOUCH = {
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

/** One step of one visit. Of bookings in one visit each has a `booking` of its own. */
export function makeTouch(about: {
  widgetId: WidgetId;
  visit: number;
  at: Date | string;
  step?: Step;
  class?: VisitClass;
  booking?: string;
  startAt?: string;
}): Touch {
  const step = about.step ?? "widget_viewed";
  const isConversion = step === "booking_completed" || step === "booking_failed";
  const startAt = about.startAt === undefined ? null : new Date(about.startAt);
  return {
    ...(about.class ?? DIRECT),
    organizationId: ownerOf(about.widgetId),
    widgetId: about.widgetId,
    visitId: visitId(about.visit),
    at: new Date(about.at),
    steps: toStepBit(step),
    page: "https://example.com/book",
    device: "mobile",
    country: "DE",
    conversion: isConversion ? { step, key: about.booking ?? "a", startAt } : null,
  };
}
