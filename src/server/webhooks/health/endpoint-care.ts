import type { NoticeKind } from "#contract/delivery.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { Deps } from "../../deps.ts";
import { randomUuid } from "../../lib/random.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { findWarning, insertNotice, switchOffFailing } from "../endpoints/queries.ts";
import { PLANS_WITH_WEBHOOKS } from "../queue/caps.ts";
import { cancelForbidden } from "../queue/recovery-queries.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";
import { describeVerdict, type HealthVerdict, isFailingLong, judgeHealth } from "./health.ts";

const NOTICE_PAUSE_MS = DAY_MS;
const CANCEL_BATCH = 500;
const TOLD_KEPT = 10_000;

type LookAfterDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics">;
type Unwell = Exclude<HealthVerdict, { kind: "well" }>;

/** Switches off endpoints that have failed for too long, and tells their owners what happened and what will. */
export class EndpointCare {
  readonly #deps: LookAfterDeps;
  /** When this process last made sure that an owner is told, by endpoint and kind: most failures say nothing new. */
  readonly #told = new RecentMap<string, number>(TOLD_KEPT);

  constructor(deps: LookAfterDeps) {
    this.#deps = deps;
  }

  /** Never rejects: the reports are written, and the next failed attempt leads here again. */
  async lookAfter(health: EndpointHealth): Promise<void> {
    try {
      const verdict = await this.#judge(health);
      if (verdict.kind === "well") return;
      if (verdict.kind === "disable" && !(await this.#switchOff(health, verdict.reason))) return;
      await this.#tell(health, verdict);
    } catch (error) {
      const { organization_id: organizationId, endpoint_id: endpointId } = health;
      this.#deps.log.error("endpoint.look_after_failed", { organizationId, endpointId, error });
    }
  }

  async #judge(health: EndpointHealth): Promise<HealthVerdict> {
    const { organization_id: owner } = health;
    const now = this.#deps.clock.now();
    const isLong = isFailingLong(health, now);
    const warnedAt = isLong ? await findWarning(this.#deps.db, owner, health) : null;
    return judgeHealth(health, { now, warnedAt });
  }

  /** False when someone else has done so already, or when it is no longer the receiver that failed. */
  async #switchOff(health: EndpointHealth, reason: "gone" | "failing"): Promise<boolean> {
    const { db, clock, metrics, log } = this.#deps;
    const { organization_id: owner, endpoint_id: endpointId } = health;
    const now = clock.now();
    // A receiver that is gone was switched off together with its report.
    if (!health.is_gone && !(await switchOffFailing(db, owner, health, now))) return false;
    await cancelForbidden(db, { now, plans: PLANS_WITH_WEBHOOKS, limit: CANCEL_BATCH, endpointId });
    metrics.endpointsDisabled.inc({ reason });
    log.warn("endpoint.disabled", { organizationId: owner, endpointId, outcome: reason });
    return true;
  }

  /** At most once in 24 hours; but that it was switched off is always told. */
  async #tell(health: EndpointHealth, verdict: Unwell): Promise<void> {
    const { db, clock, random, metrics } = this.#deps;
    const now = clock.now();
    const kind: NoticeKind = verdict.kind === "disable" ? "disabled" : verdict.kind;
    const notSince = verdict.kind === "disable" ? now : new Date(now.getTime() - NOTICE_PAUSE_MS);
    const key = `${health.endpoint_id} ${kind}`;
    if ((this.#told.get(key) ?? Number.NEGATIVE_INFINITY) > notSince.getTime()) return;
    const notice = {
      id: randomUuid(random),
      endpointId: health.endpoint_id,
      kind,
      detail: describeVerdict(verdict, health),
      now,
      notSince,
    };
    const lastToldAt = await insertNotice(db, health.organization_id, notice);
    if (lastToldAt === null) metrics.endpointNotices.inc({ kind });
    this.#told.set(key, (lastToldAt ?? now).getTime());
  }
}
