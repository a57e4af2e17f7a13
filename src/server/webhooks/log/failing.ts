import { describeAttempt } from "#contract/attempt-words.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { listEndpointNames, listEndpoints } from "../endpoints/queries.ts";
import { toEndpointName } from "../endpoints/shown-url.ts";
import { countRecentAttempts } from "../health/queries.ts";
import { toLogKeptSince } from "./period.ts";
import { listDeliveries } from "./queries.ts";

const DELIVERIES_SHOWN = 50;

/** What is wrong with an organization's endpoints and deliveries, in words and without anything personal. */
export async function readFailingDeliveries({ db, clock }: Pick<Deps, "db" | "clock">, owner: OrganizationId) {
  const now = clock.now();
  const recent = await countRecentAttempts(db, owner, { since: new Date(now.getTime() - DAY_MS) });
  const endpoints = (await listEndpoints(db, owner)).map((row) => {
    const lastDay = recent.find(({ endpoint_id }) => endpoint_id === row.id);
    return {
      id: row.id,
      name: toEndpointName(row),
      kind: row.kind,
      status: row.status,
      disabledReason: row.disabled_reason,
      failingSince: row.failing_since?.toISOString() ?? null,
      lastDay: { delivered: lastDay?.delivered ?? 0, failed: lastDay?.failed ?? 0 },
    };
  });
  const names = new Map((await listEndpointNames(db, owner)).map((each) => [each.id, each]));
  const wanted = { keptSince: toLogKeptSince(now), limit: DELIVERIES_SHOWN };
  const failed = await listDeliveries(db, owner, { ...wanted, state: "failed" });
  const retrying = await listDeliveries(db, owner, { ...wanted, state: "retrying" });
  const deliveries = [...failed, ...retrying].map((row) => {
    const endpoint = names.get(row.endpoint_id);
    assert(endpoint, "an endpoint's row stays as long as its deliveries");
    return {
      id: row.id,
      endpoint: toEndpointName(endpoint),
      eventType: row.type,
      reference: row.reference,
      state: row.state,
      reason: describeAttempt({ kind: endpoint.kind, status: row.last_status, errorCode: row.last_error }),
      attempts: row.attempt_count,
      nextAttemptAt: row.next_attempt_at?.toISOString() ?? null,
      createdAt: row.created_at.toISOString(),
    };
  });
  return { endpoints, deliveries };
}
