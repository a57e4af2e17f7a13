// The funnel's steps, in order. A visit has reached a step once it took that step or a later one.

export const FUNNEL_STEPS = [
  "widget_viewed",
  "service_selected",
  "date_selected",
  "slot_selected",
  "form_started",
  "booking_completed",
] as const;
export type FunnelStep = (typeof FUNNEL_STEPS)[number];

/** The steps a browser may send; the server alone writes the others. */
export const BROWSER_STEPS = [
  "widget_viewed",
  "service_selected",
  "date_selected",
  "slot_selected",
  "form_started",
  "no_availability",
] as const;
export type BrowserStep = (typeof BROWSER_STEPS)[number];

export const STEPS = [...FUNNEL_STEPS, "no_availability", "booking_failed"] as const;
export type Step = (typeof STEPS)[number];
