import type { OrganizationId } from "#contract/ids.ts";
import { deleteExpiredVisits, deleteUnusedKeys } from "../analytics/analytics.ts";
import { deleteExpiredBookings, deleteExpiredDeletions } from "../bookings/bookings.ts";
import { OtherWork } from "../db/connections/other-work.ts";
import type { Db } from "../db/connections/pool.ts";
import { writeAtHome } from "../db/home.ts";
import type { Deps } from "../deps.ts";
import { LoggableError } from "../lib/log/loggable-error.ts";
import type { Random } from "../lib/secrets/random.ts";
import { findOrganization, listOrganizations, toKeptSince } from "../organizations/organizations.ts";
import { deleteEndedAppointments } from "../scheduler/scheduler.ts";
import {
  deleteExpiredAttempts,
  deleteExpiredEvents,
  deleteExpiredNotices,
  deleteExpiredRedeliveries,
  deleteExpiredTotals,
  deletePreviousSecrets,
  deleteRemovedEndpoints,
  toLogKeptSince,
} from "../webhooks/webhooks.ts";

/** Small enough that a batch commits within milliseconds, so writers hardly wait for it. */
const BATCH_ROWS = 500;

type Kind =
  | "bookings"
  | "deletions"
  | "visits"
  | "keys"
  | "webhookEvents"
  | "attempts"
  | "notices"
  | "redeliveries"
  | "totals"
  | "secrets"
  | "endpoints"
  | "appointments";
type Batch = { keptSince: Date; limit: number; now: Date; random: Random };
type DeleteBatch = (home: Db, owner: OrganizationId, batch: Batch) => Promise<number>;

/**
 * The order matters: removed endpoints are unused once the log is gone.
 * `isLog`: kept as long as the delivery log, whatever the plan. Sandbox appointments are kept that long after their end.
 */
const KINDS: readonly { kind: Kind; label: string; isLog?: true; deleteBatch: DeleteBatch }[] = [
  {
    kind: "bookings",
    label: "booking",
    deleteBatch: (db, owner, { keptSince, limit, now, random }) =>
      deleteExpiredBookings(db, owner, { createdBefore: keptSince, limit, now, random }),
  },
  { kind: "deletions", label: "deletion", deleteBatch: deleteExpiredDeletions },
  { kind: "visits", label: "visit", deleteBatch: deleteExpiredVisits },
  { kind: "keys", label: "key", deleteBatch: deleteUnusedKeys },
  { kind: "webhookEvents", label: "webhook_event", isLog: true, deleteBatch: deleteExpiredEvents },
  { kind: "attempts", label: "attempt", isLog: true, deleteBatch: deleteExpiredAttempts },
  { kind: "notices", label: "notice", isLog: true, deleteBatch: deleteExpiredNotices },
  { kind: "totals", label: "attempt_total", isLog: true, deleteBatch: deleteExpiredTotals },
  { kind: "redeliveries", label: "redelivery", isLog: true, deleteBatch: deleteExpiredRedeliveries },
  { kind: "secrets", label: "signing_secret", deleteBatch: deletePreviousSecrets },
  { kind: "endpoints", label: "endpoint", isLog: true, deleteBatch: deleteRemovedEndpoints },
  {
    kind: "appointments",
    label: "sandbox_appointment",
    isLog: true,
    deleteBatch: (db, owner, { keptSince, limit }) =>
      deleteEndedAppointments(db, owner, { endedBefore: keptSince, limit }),
  },
];

type SweepDeps = Pick<Deps, "db" | "clock" | "random" | "metrics" | "log">;
type Total = Record<Kind, number>;

/** Deletes everything past its plan's retention, one organization at a time. A failure in one does not stop the others. */
export async function sweepExpired(deps: SweepDeps, signal?: AbortSignal): Promise<Total> {
  const total: Total = {
    bookings: 0,
    deletions: 0,
    visits: 0,
    keys: 0,
    webhookEvents: 0,
    attempts: 0,
    notices: 0,
    redeliveries: 0,
    totals: 0,
    secrets: 0,
    endpoints: 0,
    appointments: 0,
  };
  let failed = 0;
  let lastError: unknown;
  const others = new OtherWork();
  for (const { id } of await listOrganizations(deps.db)) {
    try {
      await sweepOrganization(deps, id, { total, others, signal });
    } catch (error) {
      deps.log.error("retention.failed", { organizationId: id, error });
      failed += 1;
      lastError = error;
    }
  }
  if (failed > 0) throw new LoggableError("Organizations that could not be swept", { count: failed, cause: lastError });
  return total;
}

/** Deletes in batches, each in its own transaction, and adds to the total. Gives way to others after each batch. */
async function sweepOrganization(
  deps: SweepDeps,
  id: OrganizationId,
  { total, others, signal }: { total: Total; others: OtherWork; signal: AbortSignal | undefined },
): Promise<void> {
  for (const { kind, label, isLog, deleteBatch } of KINDS) {
    let deleted = BATCH_ROWS;
    while (deleted === BATCH_ROWS && !signal?.aborted) {
      const startedAt = performance.now();
      deleted = await deleteOneBatch(deps, id, { isLog: isLog ?? false, deleteBatch });
      const stepMs = performance.now() - startedAt;
      others.addOwn(stepMs);
      deps.metrics.expiredRows.inc({ kind: label }, deleted);
      total[kind] += deleted;
      await others.giveWay(deps.db, { stepMs, signal });
    }
  }
}

/** Reads the plan again for each batch, so that an organization that upgrades during a sweep keeps the rest. */
async function deleteOneBatch(
  deps: Pick<Deps, "db" | "clock" | "random">,
  id: OrganizationId,
  { isLog, deleteBatch }: { isLog: boolean; deleteBatch: DeleteBatch },
): Promise<number> {
  return await writeAtHome(deps.db, id, async (home) => {
    const organization = await findOrganization(home, id);
    if (!organization) return 0;
    const now = deps.clock.now();
    const keptSince = isLog ? toLogKeptSince(now) : toKeptSince(organization.plan, now);
    return await deleteBatch(home, id, { keptSince, limit: BATCH_ROWS, now, random: deps.random });
  });
}
