import type { Analytics } from "#contract/analytics/analytics.ts";
import { FUNNEL_STEPS, type FunnelStep } from "#contract/analytics/steps.ts";

type Funnel = Analytics["funnel"];

/** Rates of fewer visits say nothing. */
export const VISITS_MIN = 30;
/** Smaller differences are not worth a sentence. */
const DIFFERENCE_MIN = 0.05;

/** The step after which a group loses more of its visits than the other groups do, by the largest difference. Null without any. */
export function findOutlier(
  group: Funnel,
  others: readonly Funnel[],
): { step: FunnelStep; rate: number; othersRate: number } | null {
  const drops = FUNNEL_STEPS.slice(0, -1).flatMap((step, i) => {
    const next = FUNNEL_STEPS[i + 1];
    const othersVisits = others.reduce((sum, other) => sum + other[step], 0);
    if (!next || group[step] < VISITS_MIN || othersVisits < VISITS_MIN) return [];
    const othersNext = others.reduce((sum, other) => sum + other[next], 0);
    return [{ step, rate: 1 - group[next] / group[step], othersRate: 1 - othersNext / othersVisits }];
  });
  const [worst] = drops.sort((a, b) => b.rate - b.othersRate - (a.rate - a.othersRate));
  return worst && worst.rate - worst.othersRate >= DIFFERENCE_MIN ? worst : null;
}
