import type { Deps } from "../deps.ts";
import { randomUuid } from "../lib/random.ts";
import { insertNotice, switchOffFailing } from "./endpoint-queries.ts";
import { describeVerdict, judgeHealth } from "./health.ts";
import { PLANS_WITH_WEBHOOKS } from "./queue-caps.ts";
import { cancelForbidden } from "./recovery-queries.ts";
import type { EndpointHealth } from "./report-queries.ts";

const NOTICE_PAUSE_MS = 24 * 3_600_000;
const CANCEL_BATCH = 500;

/**
 * Switches off an endpoint that has failed for too long, and tells its owner what happened and what will. Never throws: the
 * reports are written, and the next failed attempt leads here again.
 */
export async function lookAfter(
  deps: Pick<Deps, "db" | "clock" | "random" | "log" | "metrics">,
  health: EndpointHealth,
): Promise<void> {
  const { organization_id: owner, endpoint_id: endpointId } = health;
  const now = deps.clock.now();
  const verdict = judgeHealth(health, now);
  if (verdict.kind === "well") return;
  try {
    if (verdict.kind === "disable") {
      // A receiver that is gone was switched off together with its report.
      const isSwitchedOff = health.is_gone || (await switchOffFailing(deps.db, owner, { id: endpointId, now }));
      if (!isSwitchedOff) return;
      await cancelForbidden(deps.db, { now, plans: PLANS_WITH_WEBHOOKS, limit: CANCEL_BATCH, endpointId });
      deps.metrics.endpointsDisabled.inc({ reason: verdict.reason });
      deps.log.warn("endpoint.disabled", { organizationId: owner, endpointId, outcome: verdict.reason });
    }
    const kind = verdict.kind === "disable" ? "disabled" : verdict.kind;
    const isTold = await insertNotice(deps.db, owner, {
      id: randomUuid(deps.random),
      endpointId,
      kind,
      detail: describeVerdict(verdict, health),
      now,
      // That it is switched off is always told.
      notSince: verdict.kind === "disable" ? now : new Date(now.getTime() - NOTICE_PAUSE_MS),
    });
    if (isTold) deps.metrics.endpointNotices.inc({ kind });
  } catch (error) {
    deps.log.error("endpoint.look_after_failed", { organizationId: owner, endpointId, error });
  }
}
