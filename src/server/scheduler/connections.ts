import type { OrganizationId } from "#contract/ids.ts";
import {
  CONNECTION_ID,
  CONNECTIONS_PER_ORGANIZATION_MAX,
  type ConnectionId,
  type ConnectionKind,
} from "#contract/scheduling.ts";
import type { Db } from "../db/pool.ts";
import { withinTransaction } from "../db/within-transaction.ts";
import { randomId } from "../lib/random.ts";
import {
  type ConnectionRow,
  deleteConnection,
  findConnection,
  insertConnection,
  updateConnection,
} from "./connection-queries.ts";
import { type ConnectionParts, parseConnectionParts } from "./connection-settings.ts";
import { type OpenDeps, openConnection, openParts } from "./open-system.ts";
import type { Failure, Read, Verified } from "./scheduling-system.ts";

// What an organization does with its connections. Expected refusals are values; the caller turns them into words or a status.

export type GivenParts = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly credentials: Readonly<Record<string, unknown>>;
};

export type ConnectionRefusal =
  /** Members of the settings or credentials that are missing or wrong. */
  | { readonly kind: "fields_refused"; readonly fields: readonly string[] }
  /** The system did not let itself be asked; nothing was saved. */
  | { readonly kind: "test_failed"; readonly failure: Failure }
  | { readonly kind: "too_many" }
  | { readonly kind: "in_use" }
  | { readonly kind: "not_found" };

/** What else is written in the transaction that saves, such as who did it. */
export type Alongside = (transaction: Db, id: ConnectionId) => Promise<void>;
const nothingElse: Alongside = async () => undefined;

/** Asks the system first: a connection that never worked is not saved. */
export async function addConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  wanted: GivenParts & { kind: ConnectionKind; name: string },
  signal: AbortSignal,
  alongside = nothingElse,
): Promise<{ kind: "added"; id: ConnectionId; verified: Verified } | ConnectionRefusal> {
  const tried = await tryParts(deps, wanted, signal);
  if (tried.kind !== "works") return tried;
  const id = randomId<ConnectionId>(deps.random, CONNECTION_ID);
  const now = deps.clock.now();
  const row = {
    id,
    kind: wanted.kind,
    name: wanted.name,
    ...seal(deps, id, tried.parts),
    last_ok_at: now,
    last_error: null,
    last_error_at: null,
    last_error_status: null,
    last_error_request_id: null,
    created_at: now,
    updated_at: now,
  };
  const isAdded = await deps.db.transaction().execute(async (transaction) => {
    const isInserted = await insertConnection(transaction, owner, { row, most: CONNECTIONS_PER_ORGANIZATION_MAX });
    if (isInserted) await alongside(transaction, id);
    return isInserted;
  });
  return isAdded ? { kind: "added", id, verified: tried.verified } : { kind: "too_many" };
}

/**
 * Settings change only together with the credentials: else whoever may edit a connection could have a secret that they
 * cannot read sent to an address of their own.
 */
export async function replaceConnectionParts(
  deps: OpenDeps,
  owner: OrganizationId,
  wanted: GivenParts & { id: ConnectionId },
  signal: AbortSignal,
  alongside = nothingElse,
): Promise<{ kind: "replaced"; verified: Verified } | ConnectionRefusal> {
  const known = await findConnection(deps.db, owner, wanted.id);
  if (known === null) return { kind: "not_found" };
  const tried = await tryParts(deps, { ...wanted, kind: known.kind }, signal);
  if (tried.kind !== "works") return tried;
  const now = deps.clock.now();
  // Even if the clock stands still: it is by this time that every process notices.
  const updatedAt = new Date(Math.max(now.getTime(), known.updated_at.getTime() + 1));
  const change = { ...seal(deps, wanted.id, tried.parts), last_ok_at: now, updated_at: updatedAt };
  const row = await deps.db.transaction().execute(async (transaction) => {
    const updated = await updateConnection(transaction, owner, { id: wanted.id, change });
    if (updated) await alongside(transaction, wanted.id);
    return updated;
  });
  return row === null ? { kind: "not_found" } : { kind: "replaced", verified: tried.verified };
}

export async function renameConnection(
  deps: Pick<OpenDeps, "db">,
  owner: OrganizationId,
  wanted: { id: ConnectionId; name: string },
): Promise<ConnectionRow | null> {
  return await updateConnection(deps.db, owner, { id: wanted.id, change: { name: wanted.name } });
}

export async function removeConnection(
  deps: Pick<OpenDeps, "db">,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<{ kind: "removed" } | ConnectionRefusal> {
  if (await withinTransaction(deps.db, (transaction) => deleteConnection(transaction, owner, id)))
    return { kind: "removed" };
  return { kind: (await findConnection(deps.db, owner, id)) === null ? "not_found" : "in_use" };
}

/** "Test connection" of one that is saved; its health shows the result. */
export async function testConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  id: ConnectionId,
  signal: AbortSignal,
): Promise<Read<Verified> | { kind: "not_found" }> {
  const system = await openConnection(deps, owner, id);
  return system === null ? { kind: "not_found" } : await system.verify(signal);
}

type Tried = { kind: "works"; parts: ConnectionParts; verified: Verified };

async function tryParts(
  deps: OpenDeps,
  given: GivenParts & { kind: ConnectionKind },
  signal: AbortSignal,
): Promise<Tried | ConnectionRefusal> {
  const parsed = parseConnectionParts(given.kind, given);
  if (parsed.kind === "refused") return { kind: "fields_refused", fields: parsed.fields };
  const verified = await openParts(deps, parsed.parts).verify(signal);
  if (verified.kind !== "found") return { kind: "test_failed", failure: verified };
  return { kind: "works", parts: parsed.parts, verified: verified.value };
}

function seal(deps: OpenDeps, id: ConnectionId, parts: ConnectionParts): { settings: string; credentials: Buffer } {
  return {
    settings: JSON.stringify(parts.settings),
    credentials: deps.scheduler.sealer.seal(id, JSON.stringify(parts.credentials)),
  };
}
