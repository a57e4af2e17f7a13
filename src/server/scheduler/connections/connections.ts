import { DAY_MS } from "#contract/durations.ts";
import { CONNECTION_ID, type ConnectionId, type OrganizationId } from "#contract/ids.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { AuditOf } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { countLocked } from "../../organizations/organizations.ts";
import { endSubscription } from "../notices/keep-subscriptions.ts";
import { openConnection, openParts } from "../open-system.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import type { Failure, Verified } from "../scheduling-system.ts";
import { type ConnectionParts, isSameAccount, parseConnectionParts } from "./connection-settings.ts";
import {
  type ConnectionRow,
  deleteConnection,
  findConnection,
  hasUnsettledBooking,
  insertConnection,
  isUsedByWidget,
  listConnectionsReadBeforeAcrossOrganizations,
  lockConnection,
  updateConnection,
} from "./queries.ts";

// Adding, changing and removing an organization's connections. Expected refusals are values.

type GivenParts = {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly credentials: Readonly<Record<string, unknown>>;
};

export type ConnectionRefusal =
  /** Names of missing or invalid settings and credentials. */
  | { readonly kind: "fields_refused"; readonly fields: readonly string[] }
  /** The test of the connection failed; nothing was saved. */
  | { readonly kind: "test_failed"; readonly failure: Failure }
  | { readonly kind: "too_many"; readonly most: number }
  | { readonly kind: "in_use" }
  /** The outcome of a booking is unknown, and it can only be looked up in this connection's account. */
  | { readonly kind: "booking_under_way" }
  | { readonly kind: "not_found" };

/** Tests the connection first; one that doesn't work is not saved. */
export async function addConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  wanted: GivenParts & { id?: ConnectionId; kind: ConnectionKind; name: string },
  audit: AuditOf<Pick<ConnectionRow, "id" | "name">>,
): Promise<{ kind: "added"; id: ConnectionId; verified: Verified } | ConnectionRefusal> {
  const tried = await tryParts(deps, wanted);
  if (tried.kind !== "works") return tried;
  const id = wanted.id ?? randomId<ConnectionId>(deps.random, CONNECTION_ID);
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
    ...toBookingPage(tried.verified, now),
    ...toFollowing(true, now),
  };
  const most = deps.scheduler.maxConnections;
  const isAdded = await inTransaction(deps.db, async (transaction) => {
    if ((await countLocked(transaction, owner, "scheduling_connections")) >= most) return false;
    await insertConnection(transaction, owner, row);
    await audit(transaction, row);
    return true;
  });
  return isAdded ? { kind: "added", id, verified: tried.verified } : { kind: "too_many", most };
}

export type ConnectionEdit = {
  readonly id: ConnectionId;
  readonly name?: string;
  /** Whether appointments that are cancelled or moved in the system change here too. */
  readonly followsChanges?: boolean;
  /**
   * Settings change only together with the credentials. Otherwise someone who may edit a connection could have its
   * secret, which they cannot read, sent to their own server.
   */
  readonly parts?: GivenParts;
};

/**
 * Changes the name, the parts, or both. The connection is checked first, so that nobody waits for the system behind a
 * locked row. `meanwhile` then gets the current row, locked; if it throws, nothing is changed.
 */
export async function changeConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  wanted: ConnectionEdit,
  meanwhile: (transaction: Db, row: ConnectionRow) => Promise<void> = async () => undefined,
): Promise<{ kind: "changed"; verified: Verified | null } | ConnectionRefusal> {
  const { id, name, parts, followsChanges } = wanted;
  const known = await findConnection(deps.db, owner, id);
  if (known === null) return { kind: "not_found" };
  const tried = parts === undefined ? null : await tryParts(deps, { ...parts, kind: known.kind });
  if (tried !== null && tried.kind !== "works") return tried;
  // The subscription was made with the credentials that are replaced.
  const before = tried === null ? null : await openConnection(deps, owner, id);
  let subscriptionId: string | null = null;
  const outcome = await inTransaction(deps.db, async (transaction) => {
    const row = await lockConnection(transaction, owner, id);
    if (row === null) return "not_found";
    subscriptionId = row.subscription_id;
    // Settings are always written as an object.
    const settings = row.settings as Record<string, unknown>;
    const staysInAccount = tried === null || isSameAccount(settings, tried.parts.settings);
    // A lost booking can only be looked up in the account where it was made.
    if (!staysInAccount && (await hasUnsettledBooking(transaction, owner, id))) return "booking_under_way";
    await meanwhile(transaction, row);
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(tried === null ? {} : toChange(deps, row, tried)),
      ...(staysInAccount ? {} : { account_since: deps.clock.now() }),
      ...(followsChanges === undefined || followsChanges === row.follows_changes
        ? {}
        : toFollowing(followsChanges, deps.clock.now())),
    };
    await updateConnection(transaction, owner, { id, change });
    return "changed";
  });
  if (outcome === "changed") await endSubscription(before, subscriptionId);
  return outcome === "changed" ? { kind: outcome, verified: tried?.verified ?? null } : { kind: outcome };
}

function toChange(deps: OpenDeps, row: ConnectionRow, { parts, verified }: Tried) {
  const now = deps.clock.now();
  // Always increases, even if the clock stands still: processes notice the change by this time.
  const updatedAt = new Date(Math.max(now.getTime(), row.updated_at.getTime() + 1));
  const subscription = { subscription_id: null, subscription_secret: null, subscription_due_at: now };
  return {
    ...seal(deps, row.id, parts),
    last_ok_at: now,
    updated_at: updatedAt,
    ...toBookingPage(verified, now),
    ...subscription,
  };
}

function toBookingPage({ bookingUrl }: Verified, now: Date) {
  return { booking_url: bookingUrl, booking_url_read_at: now };
}

/** From now on. What changed before stays as it is, unless the system lists all appointments. */
function toFollowing(follows: boolean, now: Date) {
  const changes_due_at = follows ? now : null;
  return { follows_changes: follows, changes_since: now, changes_due_at, subscription_due_at: now };
}

const PAGES_READ_EVERY_MS = DAY_MS;
const PAGES_BATCH = 50;

/** Background task: reads the booking pages of the systems again, which their owners may move. */
export async function readBookingPages(deps: OpenDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  const readBefore = new Date(now.getTime() - PAGES_READ_EVERY_MS);
  for (const { owner, id } of await listConnectionsReadBeforeAcrossOrganizations(deps.db, {
    readBefore,
    limit: PAGES_BATCH,
  })) {
    if (signal.aborted) return;
    const read = await (await openConnection(deps, owner, id))?.verify(signal);
    // A system that doesn't answer is asked again a day later, and keeps its page.
    const page = read?.kind === "found" ? toBookingPage(read.value, now) : { booking_url_read_at: now };
    await updateConnection(deps.db, owner, { id, change: page });
  }
}

/** `meanwhile` runs in the transaction that removes the connection. */
export async function removeConnection(
  deps: OpenDeps,
  owner: OrganizationId,
  id: ConnectionId,
  meanwhile: (transaction: Db) => Promise<void> = async () => undefined,
): Promise<{ kind: "removed" } | ConnectionRefusal> {
  const system = await openConnection(deps, owner, id);
  let subscriptionId: string | null = null;
  const outcome = await inTransaction(deps.db, async (transaction) => {
    // Locked first, so that a widget that is being given this connection is seen.
    const row = await lockConnection(transaction, owner, id);
    if (row === null) return "not_found";
    if (await isUsedByWidget(transaction, owner, id)) return "in_use";
    // A lost booking can only be looked up through this connection.
    if (await hasUnsettledBooking(transaction, owner, id)) return "booking_under_way";
    subscriptionId = row.subscription_id;
    await deleteConnection(transaction, owner, id);
    await meanwhile(transaction);
    return "removed";
  });
  if (outcome === "removed") await endSubscription(system, subscriptionId);
  return { kind: outcome };
}

type Tried = { kind: "works"; parts: ConnectionParts; verified: Verified };

async function tryParts(
  deps: OpenDeps,
  given: GivenParts & { kind: ConnectionKind },
): Promise<Tried | ConnectionRefusal> {
  const parsed = parseConnectionParts(given.kind, given);
  if (parsed.kind === "refused") return { kind: "fields_refused", fields: parsed.fields };
  const verified = await openParts(deps, parsed.parts).verify();
  if (verified.kind !== "found") return { kind: "test_failed", failure: verified };
  return { kind: "works", parts: parsed.parts, verified: verified.value };
}

function seal(deps: OpenDeps, id: ConnectionId, parts: ConnectionParts): { settings: string; credentials: Buffer } {
  return {
    settings: JSON.stringify(parts.settings),
    credentials: deps.scheduler.sealer.seal(id, JSON.stringify(parts.credentials)),
  };
}
