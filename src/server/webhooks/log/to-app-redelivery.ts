import type { AppRedelivery, NewRedelivery } from "#contract/app/deliveries.ts";
import type { RedeliveryFilter } from "#contract/delivery.ts";
import { parseEndpointId, parseWidgetId } from "#contract/ids.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import type { RedeliveryRow } from "./bulk-redelivery-queries.ts";

/** The filter, or a sentence for each wrong field. Without `to`, deliveries created until now, inclusive, are meant. */
export function toFilter(wanted: NewRedelivery, now: Date): RedeliveryFilter | { faults: Record<string, string> } {
  const from = parseIsoInstant(wanted.from, "down");
  const to = wanted.to === undefined ? new Date(now.getTime() + 1) : parseIsoInstant(wanted.to, "up");
  if (!from) return { faults: { from: NOT_A_DATE } };
  if (!to) return { faults: { to: NOT_A_DATE } };
  if (wanted.to !== undefined && to < from) return { faults: { to: "The end must not be before the start." } };
  if (wanted.states?.length === 0) return { faults: { states: "Choose at least one." } };
  const { endpoint, widget, error } = wanted;
  // An empty text is no ID either: taken for no limit, it would send everything again.
  if (endpoint !== undefined && !parseEndpointId(endpoint))
    return { faults: { endpoint: "This must be an endpoint ID." } };
  if (widget !== undefined && !parseWidgetId(widget)) return { faults: { widget: "This must be a widget ID." } };
  return {
    states: wanted.states ? [...new Set(wanted.states)] : ["failed"],
    from: from.toISOString(),
    to: to.toISOString(),
    ...(endpoint ? { endpoint } : {}),
    ...(widget ? { widget } : {}),
    ...(error ? { error } : {}),
  };
}

const NOT_A_DATE = "This must be an ISO 8601 date.";

export function toAppRedelivery({ id, state, filter, matched, queued, counts, ...row }: RedeliveryRow): AppRedelivery {
  return {
    id,
    state,
    filter: { ...filter, states: [...filter.states] },
    matched,
    queued,
    waiting: (counts.queued ?? 0) + (counts.retrying ?? 0),
    delivered: row.kept_delivered + (counts.delivered ?? 0),
    failed: row.kept_failed + (counts.failed ?? 0),
    canceled: row.kept_canceled + (counts.canceled ?? 0),
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}
