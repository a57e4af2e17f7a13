import { isDeepStrictEqual } from "node:util";
import type { AppRedelivery, NewRedelivery } from "#contract/app/deliveries.ts";
import {
  type OrganizationId,
  parseEndpointId,
  parseRedeliveryId,
  parseWidgetId,
  type RedeliveryId,
} from "#contract/ids.ts";
import { PAGE_SIZE_MAX } from "#contract/limits.ts";
import type { RedeliveryFilter } from "#contract/webhooks/delivery.ts";
import type { Routes } from "../../accounts/accounts.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, FieldsError, notFound } from "../../http/errors/api-error.ts";
import { sliceList } from "../../http/paging.ts";
import { parseIsoInstant } from "../../lib/time/iso-instant.ts";
import { cancelRedelivery, countRedelivery, type RedeliveryRefusal, startRedelivery } from "./bulk-redelivery.ts";
import { listRedeliveries, type RedeliveryRow } from "./bulk-redelivery-queries.ts";

type RouteDeps = Pick<Deps, "db" | "clock" | "random" | "log">;

const SHOWN = 20;

export function redeliveryAppRoutes(routes: Routes, deps: RouteDeps): void {
  const requireFilter = (wanted: NewRedelivery) => {
    const filter = toFilter(wanted, deps.clock.now());
    if ("faults" in filter) throw new FieldsError(filter.faults);
    return filter;
  };

  routes.add("listRedeliveries", async ({ member, query }) => {
    const rows = await listRedeliveries(deps.db, member.organizationId, { limit: PAGE_SIZE_MAX });
    return sliceList(query, rows.map(toAppRedelivery), SHOWN);
  });

  routes.add("getRedelivery", async ({ member, params }) => {
    const id = requireRedeliveryId(params.redelivery);
    return await readRedelivery(deps.db, member.organizationId, id);
  });

  routes.add("countRedelivery", async ({ member, body }) => {
    const outcome = await countRedelivery(deps, member.organizationId, requireFilter(body));
    if (outcome.kind !== "counted") throw toError(outcome);
    return { matched: outcome.matched };
  });

  routes.add(
    "startRedelivery",
    async ({ member, body }) => {
      const owner = member.organizationId;
      const filter = requireFilter(body);
      const audit = auditBy(deps, member, deps.clock.now());
      const outcome = await startRedelivery(deps, owner, filter, (transaction, { id, matched }) =>
        audit(transaction, {
          action: "deliveries.redelivered",
          target: id,
          detail: { deliveries: matched, since: filter.from },
        }),
      );
      if (outcome.kind !== "started") throw toError(outcome);
      return await readRedelivery(deps.db, owner, outcome.id);
    },
    async ({ member, body }, { target }) => {
      const started = await readRedelivery(deps.db, member.organizationId, requireRedeliveryId(target ?? ""));
      // Without an end, each request means the time of its arrival.
      const { to } = started.filter;
      if (!isDeepStrictEqual({ ...requireFilter(body), to }, started.filter))
        throw new ApiError("key_reused", "This Idempotency-Key was used for a redelivery of other deliveries.");
      return started;
    },
  );
  cancelRoute(routes, deps);
}

function cancelRoute(routes: Routes, deps: RouteDeps): void {
  routes.add("cancelRedelivery", async ({ member, params }) => {
    const id = requireRedeliveryId(params.redelivery);
    await readRedelivery(deps.db, member.organizationId, id);
    const audit = auditBy(deps, member, deps.clock.now());
    const isCanceled = await cancelRedelivery(deps, member.organizationId, id, (transaction) =>
      audit(transaction, { action: "redelivery.canceled", target: id }),
    );
    if (!isCanceled && (await readRedelivery(deps.db, member.organizationId, id)).state !== "canceled")
      throw new ApiError("conflict", "This redelivery has already ended.");
    return null;
  });
}

function toError({ kind }: RedeliveryRefusal): ApiError {
  return kind === "no_endpoint" ? notFound("Endpoint") : new ApiError(kind, "This endpoint is off. Turn it on first.");
}

async function readRedelivery(db: Db, owner: OrganizationId, id: RedeliveryId): Promise<AppRedelivery> {
  const [row] = await listRedeliveries(db, owner, { id, limit: 1 });
  if (!row) throw notFound("Redelivery");
  return toAppRedelivery(row);
}

function requireRedeliveryId(text: string): RedeliveryId {
  const id = parseRedeliveryId(text);
  if (id === null) throw notFound("Redelivery");
  return id;
}

/** The filter, or a sentence for each wrong field. Without `to`, deliveries created until now, inclusive, are meant. */
function toFilter(wanted: NewRedelivery, now: Date): RedeliveryFilter | { faults: Record<string, string> } {
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

function toAppRedelivery({ id, state, filter, matched, queued, counts, ...row }: RedeliveryRow): AppRedelivery {
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
