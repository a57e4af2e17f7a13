import type { NoticeKind } from "#contract/delivery.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import { auditByOperator } from "../../audit/audit.ts";
import { writeAtHome } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import type { Deps } from "../../deps.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { toEndpointName } from "../endpoints/shown-url.ts";
import { cancelForbidden } from "../queue/recovery-queries.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";
import { describeVerdict, type HealthVerdict, isFailingLong, judgeHealth } from "./health.ts";
import {
  type AuditSwitchOff,
  findSwitchedOff,
  findWarning,
  insertNotice,
  type SwitchedOff,
  switchOffFailing,
} from "./queries.ts";

const NOTICE_PAUSE_MS = DAY_MS;
const CANCEL_BATCH = 500;
const NOTIFIED_KEPT = 10_000;

type LookAfterDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "metrics">;
type Unwell = Exclude<HealthVerdict, { kind: "well" }>;

/** Turns off endpoints that have failed for too long, and notifies their owners. */
export class EndpointCare {
  readonly #deps: LookAfterDeps;
  /** When a notice was last known to exist, by endpoint and kind; saves a query for most failures. */
  readonly #notified = new RecentMap<string, number>(NOTIFIED_KEPT);

  constructor(deps: LookAfterDeps) {
    this.#deps = deps;
  }

  /** Never rejects: the reports are already written, and the next failed attempt leads here again. */
  async lookAfter(health: EndpointHealth): Promise<void> {
    try {
      const verdict = await this.#judge(health);
      if (verdict.kind === "well") return;
      if (verdict.kind === "disable" && !(await this.#switchOff(health, verdict.reason))) return;
      await this.#notify(health, verdict);
    } catch (error) {
      const { organization_id: organizationId, endpoint_id: endpointId } = health;
      this.#deps.log.error("endpoint.check_failed", { organizationId, endpointId, error });
    }
  }

  /** Runs in the transaction that turns the endpoint off. */
  async auditGone(transaction: Db, owner: OrganizationId, id: EndpointId): Promise<void> {
    await this.#auditSwitchOff(transaction, await findSwitchedOff(transaction, owner, id), "gone");
  }

  async #judge(health: EndpointHealth): Promise<HealthVerdict> {
    const { organization_id: owner } = health;
    const now = this.#deps.clock.now();
    const isLong = isFailingLong(health, now);
    const warnedAt = isLong ? await findWarning(this.#deps.db, owner, health) : null;
    return judgeHealth(health, { now, warnedAt });
  }

  /** False if another worker did so first, or if the endpoint has changed since. */
  async #switchOff(health: EndpointHealth, reason: "gone" | "failing"): Promise<boolean> {
    const { db, clock, metrics, log } = this.#deps;
    const { organization_id: owner, endpoint_id: endpointId } = health;
    const now = clock.now();
    const audit: AuditSwitchOff = (transaction, endpoint) => this.#auditSwitchOff(transaction, endpoint, reason);
    // A receiver that is gone was turned off together with its report.
    if (!health.is_gone && !(await switchOffFailing(db, owner, health, { now, audit }))) return false;
    await writeAtHome(db, owner, (home) => cancelForbidden(home, { now, limit: CANCEL_BATCH, endpointId }));
    metrics.endpointsDisabled.inc({ reason });
    log.warn("endpoint.disabled", { organizationId: owner, endpointId, outcome: reason });
    return true;
  }

  async #auditSwitchOff(transaction: Db, endpoint: SwitchedOff, reason: "gone" | "failing"): Promise<void> {
    const { random, clock } = this.#deps;
    const audit = auditByOperator({ random }, endpoint.organization_id, clock.now());
    const name = toEndpointName(endpoint);
    await audit(transaction, { action: "endpoint.turned_off", target: endpoint.id, name, detail: { reason } });
  }

  /** At most once in 24 hours; turning an endpoint off is always announced. */
  async #notify(health: EndpointHealth, verdict: Unwell): Promise<void> {
    const { db, clock, random, metrics } = this.#deps;
    const now = clock.now();
    const kind: NoticeKind = verdict.kind === "disable" ? "disabled" : verdict.kind;
    const notSince = verdict.kind === "disable" ? now : new Date(now.getTime() - NOTICE_PAUSE_MS);
    const key = `${health.endpoint_id} ${kind}`;
    if ((this.#notified.get(key) ?? Number.NEGATIVE_INFINITY) > notSince.getTime()) return;
    const organization = await findOrganization(db, health.organization_id);
    const notice = {
      id: randomUuid(random),
      endpointId: health.endpoint_id,
      kind,
      detail: describeVerdict(verdict, health, organization?.time_zone ?? "UTC"),
      now,
      notSince,
    };
    const lastNoticeAt = await insertNotice(db, health.organization_id, notice);
    if (lastNoticeAt === null) metrics.endpointNotices.inc({ kind });
    this.#notified.set(key, (lastNoticeAt ?? now).getTime());
  }
}
