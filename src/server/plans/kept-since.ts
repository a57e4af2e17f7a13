import { PLAN_TERMS, type Plan } from "#contract/plans.ts";

/** The oldest instant that a plan still keeps. Months are calendar months, counted in UTC: 31 March less a month is 28 February. */
export function toKeptSince(plan: Plan, now: Date): Date {
  const end = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO("UTC");
  return new Date(end.subtract(PLAN_TERMS[plan].retention).epochMilliseconds);
}
