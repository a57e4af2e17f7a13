import type { FastifyRequest } from "fastify";
import type { ConnectionId, OrganizationId, WidgetId } from "#contract/ids.ts";
import type { SchedulingKind } from "#contract/scheduling.ts";
import { toClientNetwork } from "../http/limits/client-network.ts";
import { assert } from "../lib/assert.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { AccountLimits } from "./account-limits.ts";
import { createCalcom } from "./calcom/calcom.ts";
import { createCalendly } from "./calendly/calendly.ts";
import { ConnectionHealth, watchSystem } from "./connections/connection-health.ts";
import { type ConnectionParts, parseConnectionParts } from "./connections/connection-settings.ts";
import { findSealedConnection, type SealedConnectionRow } from "./connections/queries.ts";
import { limitSystem } from "./limit-system.ts";
import { createMicrosoftBookings } from "./microsoft-bookings/microsoft-bookings.ts";
import type { Outbound } from "./outbound.ts";
import { type RequestBudget, withBudget } from "./request-budget.ts";
import { createSandbox } from "./sandbox/sandbox.ts";
import type { OpenDeps, SchedulerDeps } from "./scheduler-deps.ts";
import { refused, type SchedulingSystem, type UnlimitedSystem } from "./scheduling-system.ts";
import { shareSlots } from "./shared-slots.ts";

type SchedulingWidget = {
  readonly id: WidgetId;
  readonly organizationId: OrganizationId;
  /** Null: the widget's own sandbox. */
  readonly connectionId: ConnectionId | null;
};

/** The system that a widget books in. If its credentials cannot be read, it refuses everything. */
export async function openSchedulingSystem(deps: OpenDeps, widget: SchedulingWidget): Promise<SchedulingSystem> {
  const { scheduler } = deps;
  if (widget.connectionId === null) {
    const owner = { organizationId: widget.organizationId, widgetId: widget.id };
    return limitSystem(createSandbox({ ...deps, baseUrl: scheduler.baseUrl }, owner), scheduler.limits);
  }
  const system = await openConnection(deps, widget.organizationId, widget.connectionId);
  assert(system !== null, "a connection stays as long as a widget has it");
  return system;
}

/** Null when there is no such connection. */
export async function openConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<SchedulingSystem | null> {
  const row = await findSealedConnection(deps.db, owner, id);
  if (row === null) return null;
  const { opened } = deps.scheduler;
  const known = opened.get(id);
  if (known?.updatedAtMs === row.updated_at.getTime()) return known.system;
  const system = open(deps, owner, row);
  opened.set(id, { updatedAtMs: row.updated_at.getTime(), system });
  return system;
}

export type PartsDeps = Pick<OpenDeps, "clock"> & {
  readonly scheduler: Pick<SchedulerDeps, "outbound" | "accountLimits" | "limits">;
};

/** For testing a connection before it is saved. */
export function openParts(deps: PartsDeps, parts: ConnectionParts): SchedulingSystem {
  const { outbound, accountLimits } = deps.scheduler;
  const { clock } = deps;
  const budget = accountLimits.budgetOf(parts);
  const outside = { outbound: withBudget(outbound, budget), accountLimits, budget, clock };
  return limitSystem(createAdapter(outside, parts), deps.scheduler.limits);
}

type Outside = {
  readonly outbound: Outbound;
  readonly accountLimits: AccountLimits;
  readonly budget: RequestBudget;
  readonly clock: Clock;
};

function createAdapter(outside: Outside, parts: ConnectionParts): UnlimitedSystem {
  switch (parts.kind) {
    case "microsoft-bookings":
      return createMicrosoftBookings(outside, parts);
    case "calcom":
      return createCalcom(outside, parts);
    case "calendly":
      return createCalendly(outside, parts);
    default:
      return parts satisfies never;
  }
}

/** The opened parts of a connection; "closed" when its credentials cannot be read. */
export async function readConnectionParts(
  deps: OpenDeps,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<ConnectionParts | "closed" | null> {
  const row = await findSealedConnection(deps.db, owner, id);
  if (row === null) return null;
  const parts = unseal(deps, row);
  return typeof parts === "string" ? "closed" : parts;
}

function open(deps: OpenDeps, owner: OrganizationId, row: SealedConnectionRow): SchedulingSystem {
  const parts = unseal(deps, row);
  if (typeof parts === "string") return createClosed(row.kind, parts);
  const health = new ConnectionHealth(deps, { owner, id: row.id });
  const system = watchSystem(openParts(deps, parts), health);
  const { slotMemory: memory, accountLimits } = deps.scheduler;
  const sharing = { clock: deps.clock, budget: accountLimits.budgetOf(parts), memory };
  return shareSlots(sharing, system, `${row.id} ${row.updated_at.getTime()}`);
}

function unseal({ scheduler }: OpenDeps, row: SealedConnectionRow): ConnectionParts | "unsealed" | "settings" {
  const credentials = scheduler.sealer.open(row.id, row.credentials);
  if (credentials === null) return "unsealed";
  // Always written as an object.
  const settings = row.settings as Record<string, unknown>;
  const parsed = parseConnectionParts(row.kind, { settings, credentials: JSON.parse(credentials) });
  return parsed.kind === "refused" ? "settings" : parsed.parts;
}

/** The credentials were sealed with another SECRET_KEY, or this version doesn't know their format. */
function createClosed(kind: SchedulingKind, failure: "unsealed" | "settings"): SchedulingSystem {
  const closed = async () => refused("credentials", { status: null, requestId: null, failure });
  return {
    kind,
    mode: "live",
    verify: closed,
    listServices: closed,
    listSlots: closed,
    book: closed,
    findByReference: closed,
    follow: closed,
    listChanged: closed,
    subscriptions: null,
    cancel: closed,
  };
}

/** One network can cause only so many reads of available times, so that it can't use up the account's requests. */
export async function openForVisitor(
  deps: OpenDeps,
  request: FastifyRequest,
  widget: SchedulingWidget,
): Promise<SchedulingSystem> {
  const system = await openSchedulingSystem(deps, widget);
  const { readsByNetwork } = deps.scheduler;
  if (readsByNetwork === null) return system;
  const mayAsk = () => readsByNetwork.take(toClientNetwork(request.ip), deps.clock.now()).isAllowed;
  return { ...system, listSlots: (query, signal) => system.listSlots({ ...query, mayAsk }, signal) };
}
