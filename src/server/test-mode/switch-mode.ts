import { type ConnectionId, isDemoWidget, type OrganizationId, type WidgetId } from "#contract/ids.ts";
import type { Audit } from "../audit/audit.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import { describeFailure, holdConnection, type OpenDeps, openConnection } from "../scheduler/scheduler.ts";
import { changeWidget, lockWidget } from "../widgets/widgets.ts";
import { closeLivePeriod, openLivePeriod } from "./queries.ts";

// A widget is live while it has a connection; without one it is in test mode and books in the sandbox. The demo's widgets are always live.

export type WentLive =
  | { kind: "live" }
  | { kind: "no_widget" }
  | { kind: "no_connection" }
  /** Nothing was changed; `message` says what is missing. */
  | { kind: "not_ready"; message: string };

const NOTHING_OFFERED =
  "This account offers nothing that can be booked. Add a service there first; services that need manual confirmation don't count.";

/** Checks the connection first: it must answer, and offer at least one service. */
export async function goLive(
  deps: OpenDeps,
  owner: OrganizationId,
  { widgetId, connectionId, audit }: { widgetId: WidgetId; connectionId: ConnectionId; audit: Audit },
): Promise<WentLive> {
  const fault = await findFault(deps, owner, connectionId);
  if (fault !== null) return fault;
  return await inTransaction(deps.db, async (transaction): Promise<WentLive> => {
    const before = await lockWidget(transaction, owner, widgetId);
    if (before === null) return { kind: "no_widget" };
    if ((await holdConnection(transaction, owner, connectionId)) === null) return { kind: "no_connection" };
    if (before.connection_id === connectionId) return { kind: "live" };
    await changeWidget(transaction, owner, { id: widgetId, change: { connection_id: connectionId } });
    const period = { widgetId, now: deps.clock.now() };
    await closeLivePeriod(transaction, owner, period);
    await openLivePeriod(transaction, owner, period);
    await audit(transaction, { action: "widget.went_live", target: widgetId, name: before.name });
    return { kind: "live" };
  });
}

async function findFault(
  deps: OpenDeps,
  owner: OrganizationId,
  connectionId: ConnectionId,
): Promise<Exclude<WentLive, { kind: "live" }> | null> {
  const system = await openConnection(deps, owner, connectionId);
  if (system === null) return { kind: "no_connection" };
  const verified = await system.verify();
  if (verified.kind !== "found") return { kind: "not_ready", message: describeFailure(verified, system.kind) };
  const services = await system.listServices();
  if (services.kind !== "found") return { kind: "not_ready", message: describeFailure(services, system.kind) };
  return services.value.length === 0 ? { kind: "not_ready", message: NOTHING_OFFERED } : null;
}

/** False if there is no such widget. A widget that is in test mode already stays as it is. */
export async function goBackToTest(
  deps: Pick<OpenDeps, "db" | "clock">,
  owner: OrganizationId,
  { widgetId, audit }: { widgetId: WidgetId; audit: Audit },
): Promise<boolean> {
  return await inTransaction(deps.db, async (transaction) => {
    const before = await lockWidget(transaction, owner, widgetId);
    if (before === null) return false;
    if (before.connection_id === null) return true;
    await changeWidget(transaction, owner, { id: widgetId, change: { connection_id: null } });
    if (!isDemoWidget(widgetId)) await closeLivePeriod(transaction, owner, { widgetId, now: deps.clock.now() });
    await audit(transaction, { action: "widget.back_to_test", target: widgetId, name: before.name });
    return true;
  });
}
