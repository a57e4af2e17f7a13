import type { IncomingHttpHeaders } from "node:http";
import { parseWidgetId } from "#contract/ids.ts";
import type { CollectRequest } from "#contract/widgets/embed-api.ts";
import type { Deps } from "../../deps.ts";
import { toClientNetwork } from "../../http/limits/client-network.ts";
import type { BatcherLimits } from "../../lib/concurrency/batcher.ts";
import { OutageLog } from "../../lib/log/outage-log.ts";
import { ATTRIBUTION_TEXT_MAX, readAttribution } from "../classify/attribution.ts";
import type { VisitReader } from "../classify/read-visit.ts";
import { DayBudget } from "../record/day-budget.ts";
import { toStepBit } from "../record/hit.ts";
import { HitWriter } from "../record/hit-writer.ts";
import { KeyCap, NEW_KEYS_PER_DAY } from "../record/key-cap.ts";
import { parseCollectBody } from "./parse-collect-body.ts";
import { WidgetOwners } from "./widget-owners.ts";

// From a browser's request to a recorded hit. The first reason to drop the request wins:
//
//   body     malformed
//   widget   unknown_widget
//   sender   prefetch, bot, spam_referrer
//   keys     none: too many sources, campaigns and pages become "(other)" (record/key-cap.ts)
//   write    paused, over_budget (a new visit beyond the day's budget), malformed (text that can't be stored)
//   each     queue_full, database_unavailable
//
// Only the hit's fields are kept: the IP address, the user agent, queries and click ids are not passed on from here.

/** Outcomes of a request within the rate limit, counted under these names in /metrics. */
type Outcome =
  | "malformed"
  | "unknown_widget"
  | "prefetch"
  | "bot"
  | "spam_referrer"
  | "paused"
  | "over_budget"
  | "queue_full"
  | "database_unavailable"
  | "recorded";

type Arrival = {
  readonly widget: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
};

export type Collected =
  | { outcome: "malformed"; eventCount: 1; fault: string }
  | { outcome: Exclude<Outcome, "malformed">; eventCount: number };

/** New visits per day, multiplied by the requests one address may send per minute (RATE_LIMIT_EVENTS_PER_MINUTE). */
export const NETWORK_BUDGET_FACTOR = 5;
export const WIDGET_BUDGET_FACTOR = 100;

type CollectorDeps = Pick<Deps, "config" | "db" | "clock" | "random" | "log">;

export class Collector {
  readonly #clock: Deps["clock"];
  readonly #owners: WidgetOwners;
  readonly #visits: VisitReader;
  readonly #cap: KeyCap;
  readonly #budget: DayBudget;
  readonly #writer: HitWriter;

  constructor(deps: CollectorDeps, visits: VisitReader, limits: BatcherLimits) {
    const { db } = deps;
    const outages = new OutageLog(deps.log, { failed: "collection.interrupted", resumed: "collection.resumed" });
    this.#clock = deps.clock;
    this.#owners = new WidgetOwners({ db, outages, serviceUrl: deps.config.baseUrl });
    this.#visits = visits;
    this.#cap = new KeyCap(deps, NEW_KEYS_PER_DAY);
    const perMinute = deps.config.rateLimitEventsPerMinute;
    const daily = { perNetwork: perMinute * NETWORK_BUDGET_FACTOR, perWidget: perMinute * WIDGET_BUDGET_FACTOR };
    this.#budget = new DayBudget(daily, deps.random);
    this.#writer = new HitWriter({ db, clock: deps.clock, outages }, limits);
  }

  get waitingCount(): number {
    return this.#writer.waitingCount;
  }

  async collect(arrival: Arrival): Promise<Collected> {
    const parsed = parseCollectBody(arrival.body);
    if ("fault" in parsed) return { outcome: "malformed", eventCount: 1, fault: parsed.fault };
    const { request } = parsed;
    const outcome = await this.#record(arrival, request);
    if (outcome === "malformed")
      return { outcome, eventCount: 1, fault: "The body contains text that can't be stored." };
    return { outcome, eventCount: request.events.length };
  }

  async #record(arrival: Arrival, request: CollectRequest): Promise<Outcome> {
    const now = this.#clock.now();
    const widgetId = parseWidgetId(arrival.widget);
    if (widgetId === null) return "unknown_widget";
    const found = await this.#owners.find(widgetId, now);
    if (found.kind !== "found") return found.kind;
    const { organizationId, ownHosts } = found.owner;

    if (isPrefetch(arrival.headers)) return "prefetch";
    const raw = readAttribution(request.attribution);
    const visit = this.#visits.read(arrival, { raw, page: readPage(request.page), ownHosts });
    if (visit.isBot) return "bot";
    if (visit.isSpam) return "spam_referrer";
    const origin = { organizationId, widgetId, network: toClientNetwork(arrival.ip) };
    const capped = await this.#cap.apply(origin, visit, now);
    if (typeof capped === "string") return capped;

    const charge = this.#budget.charge(origin, now);
    const { page, source, medium, campaign, channel, device, country } = capped.visit;
    const written = await this.#writer.write({
      organizationId,
      widgetId,
      // Lower-cased: PostgreSQL accepts both cases, but comparing strings would see two visits.
      visitId: request.visitId.toLowerCase(),
      at: now,
      steps: toStepBits(request),
      page,
      source,
      medium,
      campaign,
      channel,
      device,
      country,
      conversion: null,
      mayStart: charge !== null,
    });
    const isNewVisit = written.outcome === "recorded" && !written.wasKnown;
    capped.settle(isNewVisit);
    if (charge && !isNewVisit) this.#budget.refund(charge);
    return written.outcome;
  }

  /** Resolves when everything accepted has been settled. */
  async close(): Promise<void> {
    await this.#writer.close();
  }
}

/** The browser prefetched a page that nobody may ever see. */
function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purpose = headers["sec-purpose"];
  return typeof purpose === "string" && purpose.includes("prefetch");
}

function readPage(page: unknown): string {
  return typeof page === "string" ? page.slice(0, ATTRIBUTION_TEXT_MAX) : "";
}

function toStepBits(request: CollectRequest): number {
  let bits = 0;
  for (const { step } of request.events) bits |= toStepBit(step);
  return bits;
}
