// The scheduling systems that a widget can book in. A widget without a connection books in the sandbox.

const SCHEDULING_KINDS = ["sandbox", "microsoft-bookings", "calcom", "calendly"] as const;
export type SchedulingKind = (typeof SCHEDULING_KINDS)[number];

/** The systems that an organization connects with its own credentials. */
export const CONNECTION_KINDS = [
  "microsoft-bookings",
  "calcom",
  "calendly",
] as const satisfies readonly SchedulingKind[];
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

/** Calendly accepts a different number of bookings on each. */
export const CALENDLY_PLANS = ["trial", "paid", "enterprise"] as const;
export type CalendlyPlan = (typeof CALENDLY_PLANS)[number];

/** The longest range of available times in one request. */
export const SLOT_RANGE_DAYS_MAX = 31;

/** After so many look-ups, in half an hour, an appointment that the system doesn't know was never made. Slow systems take a minute or two. */
export const LOOK_UPS_UNTIL_ABSENT = 6;

// How answers to questions are written as texts.

/** The answer to a `tick` that is ticked. */
export const TICKED = "Yes";
/** Between the options in the answer to `choices`. */
export const CHOICES_SEPARATOR = "\n";
