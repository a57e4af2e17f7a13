import { PLAN_TERMS, type Plan } from "#contract/plans.ts";

/** The start of a plan's retention period. Months are calendar months in UTC: 31 March minus one month is 28 February. */
export function toKeptSince(plan: Plan, now: Date): Date {
  const end = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO("UTC");
  return new Date(end.subtract(PLAN_TERMS[plan].retention).epochMilliseconds);
}
