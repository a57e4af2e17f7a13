import { DAY_MS } from "#contract/durations.ts";
import type { EndpointId, OrganizationId } from "#contract/ids.ts";
import { ENDPOINT_FAILING_DAYS_MAX } from "#contract/limits.ts";
import { DELIVERY_LOG_DAYS, describeAttempt, type NoticeKind } from "#contract/webhooks/delivery.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import { auditByOperator } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { writeAtHome } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { toInstantWords } from "../../lib/time/calendar.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { toEndpointName } from "../endpoints/to-app-endpoint.ts";
import { cancelForbidden } from "../queue/recovery-queries.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";
import {
  type AuditSwitchOff,
  findSwitchedOff,
  findWarning,
  insertNotice,
  type SwitchedOff,
  switchOffFailing,
} from "./queries.ts";

// When an endpoint is turned off, and when its owner is notified. One success resets everything.
//
//   gone      it answered 410 (webhook), or a chat says the channel is archived: at once
//   refused   a chat answered 401, 403 or 404 to three deliveries in a row: at once
//   failing   no success for ENDPOINT_FAILING_DAYS_MAX, a failed delivery and FAILED_ATTEMPTS_MIN attempts; but never less than a day after its
//             owner was warned. Health is judged when an attempt fails, so with little traffic the warning may come later.

const FAILING_MS_MAX = ENDPOINT_FAILING_DAYS_MAX * DAY_MS;
const WARNING_MS = DAY_MS;
const FAILED_ATTEMPTS_MIN = 10;
const REFUSED_DELIVERIES_MAX = 3;

type HealthVerdict =
  | { kind: "well" }
  | { kind: "exhausted" }
  | { kind: "disabling_soon"; failingSince: Date; offAt: Date }
  | { kind: "disable"; reason: "gone" | "failing" };

/** `warnedAt`: when the owner was warned, during this failure, that the endpoint will be turned off. */
function judgeHealth(health: EndpointHealth, { now, warnedAt }: { now: Date; warnedAt: Date | null }): HealthVerdict {
  if (health.is_gone) return { kind: "disable", reason: "gone" };
  if (health.refused_deliveries >= REFUSED_DELIVERIES_MAX) return { kind: "disable", reason: "failing" };
  const { failing_since: failingSince } = health;
  if (failingSince === null || health.exhausted_deliveries === 0) return { kind: "well" };
  if (!isFailingLong(health, now)) return { kind: "exhausted" };
  const warnedMs = (warnedAt ?? now).getTime();
  const offAt = new Date(Math.max(failingSince.getTime() + FAILING_MS_MAX, warnedMs + WARNING_MS));
  return now >= offAt ? { kind: "disable", reason: "failing" } : { kind: "disabling_soon", failingSince, offAt };
}

/** Long enough to warn the owner. */
function isFailingLong(health: EndpointHealth, now: Date): boolean {
  if (health.failing_since === null || health.failed_attempts < FAILED_ATTEMPTS_MIN) return false;
  return now.getTime() - health.failing_since.getTime() >= FAILING_MS_MAX - WARNING_MS;
}

const REDELIVER = `Fix the endpoint, then redeliver what it missed from the delivery log, which keeps it for ${DELIVERY_LOG_DAYS} days.`;

/** The notice's text for the owner, with times in the organization's time zone. */
function describeVerdict(
  verdict: Exclude<HealthVerdict, { kind: "well" }>,
  health: EndpointHealth,
  timeZone: string,
): string {
  const reference = health.last_failure?.reference ?? null;
  const last = describeLast(health);
  const lastAttempt = reference === null ? `Last attempt: ${last}.` : `Last attempt (booking ${reference}): ${last}.`;
  switch (verdict.kind) {
    case "exhausted":
      return `The delivery of ${reference ?? "an event"} failed and won't be retried. Last attempt: ${last}. ${REDELIVER}`;
    case "disabling_soon":
      return (
        `No delivery has succeeded since ${toInstantWords(verdict.failingSince, timeZone)}. If no delivery succeeds by ` +
        `${toInstantWords(verdict.offAt, timeZone)}, the endpoint will be turned off at the next failure. ${lastAttempt} ${REDELIVER}`
      );
    case "disable":
      return verdict.reason === "gone"
        ? `The endpoint was turned off because it returned 410 Gone. ${lastAttempt} ${REDELIVER}`
        : `The endpoint was turned off because deliveries kept failing. ${lastAttempt} ${REDELIVER}`;
    default:
      return verdict satisfies never;
  }
}

/** "HTTP 400 (user_not_found)". */
function describeLast({ kind, last_failure: last }: EndpointHealth): string {
  if (last === null) return "no response";
  const words = describeAttempt({ kind, ...last });
  const reason = findChatReason(kind, last.reply ?? "");
  return reason === null ? words : `${words} (${reason})`;
}

/** Slack answers with one word, Teams with JSON that has a code. Other receivers' replies could say anything. */
function findChatReason(kind: EndpointKind, reply: string): string | null {
  if (kind === "webhook") return null;
  const [, word, code] = /^\s*(\w{1,60})\s*$|"code"\s*:\s*"(\w{1,60})"/.exec(reply) ?? [];
  return word ?? code ?? null;
}

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
    await writeAtHome(db, owner, (home) => cancelForbidden(home, owner, { now, limit: CANCEL_BATCH, endpointId }));
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
