// What each plan includes. Gates and retention depend on this table only.

export const PLANS = ["free", "pro", "business"] as const;
export type Plan = (typeof PLANS)[number];

export type Feature = "readApi" | "webhooks" | "csvExport";

/** For stored bookings and funnel events. Months are calendar months. */
type RetentionPeriod = { readonly days: number } | { readonly months: number };

type PlanTerms = {
  readonly name: string;
  readonly features: readonly Feature[];
  readonly retention: RetentionPeriod;
};

export const PLAN_TERMS: Readonly<Record<Plan, PlanTerms>> = {
  free: { name: "Free", features: [], retention: { days: 30 } },
  pro: { name: "Pro", features: ["webhooks", "csvExport"], retention: { months: 12 } },
  business: { name: "Business", features: ["readApi", "webhooks", "csvExport"], retention: { months: 24 } },
};

export function planIncludes(plan: Plan, feature: Feature): boolean {
  return PLAN_TERMS[plan].features.includes(feature);
}

export function describeRetention({ retention }: PlanTerms): string {
  return "days" in retention ? `${retention.days} days` : `${retention.months} months`;
}
