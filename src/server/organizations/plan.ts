import { DAY_MS } from "#contract/durations.ts";
import { type Feature, PLAN_TERMS, PLANS, type Plan, planIncludes } from "#contract/plans.ts";
import { ApiError } from "../http/errors/api-error.ts";

const REFUSALS: Readonly<Record<Feature, string>> = {
  readApi: "The read API requires",
  webhooks: "Webhooks require",
  csvExport: "CSV export requires",
};

export function requireFeature(plan: Plan, feature: Feature): void {
  if (planIncludes(plan, feature)) return;
  const plans = PLANS.filter((candidate) => planIncludes(candidate, feature)).map((each) => PLAN_TERMS[each].name);
  throw new ApiError(
    "plan_required",
    `${REFUSALS[feature]} the ${plans.join(" or ")} plan. Ask the operator to change the plan.`,
  );
}

type Period = { day: number; lengthMs: number };

/** For the most recently requested day: every read needs it, and calendar arithmetic was the slowest part of a small page. */
const periods = new Map<Plan, Period>();

/** The start of a plan's retention period. Months are calendar months in UTC: 31 March minus one month is 28 February. */
export function toKeptSince(plan: Plan, now: Date): Date {
  const day = Math.floor(now.getTime() / DAY_MS);
  const known = periods.get(plan);
  const period = known?.day === day ? known : measurePeriod(plan, day);
  if (period !== known) periods.set(plan, period);
  return new Date(now.getTime() - period.lengthMs);
}

/** The same for every instant of the day, because all UTC days have the same length. */
function measurePeriod(plan: Plan, day: number): Period {
  const start = Temporal.Instant.fromEpochMilliseconds(day * DAY_MS).toZonedDateTimeISO("UTC");
  return { day, lengthMs: day * DAY_MS - start.subtract(PLAN_TERMS[plan].retention).epochMilliseconds };
}
