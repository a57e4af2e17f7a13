import { isDeepStrictEqual } from "node:util";
import type { AppConnection, ConnectionChange, VerifiedConnection } from "#contract/app/connections.ts";
import { CONNECTION_ID, type ConnectionId, type OrganizationId, parseConnectionId } from "#contract/ids.ts";
import { CONNECTION_NAME_LENGTH_MAX } from "#contract/limits.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { Routes } from "../../accounts/accounts.ts";
import { auditBy } from "../../audit/audit.ts";
import { makeOnce } from "../../db/statements/make-once.ts";
import { ApiError, FieldsError, notFound } from "../../http/errors/api-error.ts";
import { checkEmail, checkLine, requireFields } from "../../http/errors/check-fields.ts";
import { chooseId } from "../../http/idempotency-key.ts";
import { RateLimiter, type RateLimitVerdict, rateLimited } from "../../http/limits/rate-limit.ts";
import { sliceList } from "../../http/paging.ts";
import { requireUnchanged } from "../../http/require-unchanged.ts";
import { describeCap } from "../../organizations/organizations.ts";
import { checkConnection } from "../check/check-connection.ts";
import type { OpenDeps } from "../scheduler-deps.ts";
import type { Verified } from "../scheduling-system.ts";
import {
  addConnection,
  type ConnectionEdit,
  type ConnectionRefusal,
  changeConnection,
  removeConnection,
} from "./connections.ts";
import { describeFailure } from "./describe-failure.ts";
import { type ConnectionRow, countWidgetsByConnection, findConnection, listConnections } from "./queries.ts";

/** By organization. Each one sends emails and takes a slot in a real calendar for a moment. */
const TEST_BOOKINGS_PER_MINUTE = 3;

export function connectionAppRoutes(routes: Routes, deps: OpenDeps): void {
  routes.add("listConnections", async ({ member, query }) => {
    const owner = member.organizationId;
    const counts = await countWidgetsByConnection(deps.db, owner);
    const rows = await listConnections(deps.db, owner);
    const shown = rows.map((row) => toAppConnection(row, counts.get(row.id) ?? 0));
    return sliceList(query, shown);
  });

  routes.add("addConnection", async ({ member, body, request }) => {
    const typed = body;
    const id = chooseId<ConnectionId>(deps, request, { owner: member.organizationId, form: CONNECTION_ID });
    const wanted = { ...typed, id, name: checkName(typed.name) };
    if (await findConnection(deps.db, member.organizationId, id)) throw addedBefore();
    const audit = auditBy(deps, member, deps.clock.now());
    const outcome = await makeOnce(() =>
      addConnection(deps, member.organizationId, wanted, (transaction, { id: target, name }) =>
        audit(transaction, { action: "connection.added", target, name }),
      ),
    );
    if (outcome === null) throw addedBefore();
    if (outcome.kind !== "added") throw toApiError(outcome, wanted.kind);
    const connection = await readConnection(deps, member.organizationId, id);
    return { connection, verified: toVerified(outcome.verified) };
  });
  changeRoutes(routes, deps);
  checkRoute(routes, deps);
}

function changeRoutes(routes: Routes, deps: OpenDeps): void {
  routes.add("changeConnection", async ({ member, params, body }) => {
    const owner = member.organizationId;
    const { id, kind } = await requireConnection(deps, owner, params.connection);
    const change = body;
    const wanted = toEdit(id, change);
    const changed = [
      wanted.name === undefined ? "" : "name",
      wanted.parts ? "settings" : "",
      wanted.followsChanges === undefined ? "" : "follow changes",
    ]
      .filter(Boolean)
      .join(", ");
    if (changed === "") return { connection: await readConnection(deps, owner, id), verified: null };
    const audit = auditBy(deps, member, deps.clock.now());
    const outcome = await changeConnection(deps, owner, wanted, async (transaction, row) => {
      requireSameConnection(row, change);
      const names = { name: wanted.name ?? row.name, formerName: row.name };
      await audit(transaction, { action: "connection.changed", target: id, ...names, detail: { changed } });
    });
    if (outcome.kind !== "changed") throw toApiError(outcome, kind);
    const verified = outcome.verified && toVerified(outcome.verified);
    return { connection: await readConnection(deps, owner, id), verified };
  });

  routes.add("removeConnection", async ({ member, params }) => {
    const owner = member.organizationId;
    const { id, name, kind } = await requireConnection(deps, owner, params.connection);
    const audit = auditBy(deps, member, deps.clock.now());
    const outcome = await removeConnection(deps, owner, id, (transaction) =>
      audit(transaction, { action: "connection.removed", target: id, name }),
    );
    if (outcome.kind !== "removed") throw toApiError(outcome, kind);
    return null;
  });
}

function checkRoute(routes: Routes, deps: OpenDeps): void {
  const testBookings = new RateLimiter({ perMinute: TEST_BOOKINGS_PER_MINUTE });

  routes.add("checkConnection", async ({ member, params, body }) => {
    const owner = member.organizationId;
    const { id } = await requireConnection(deps, owner, params.connection);
    const { book: withBooking, email: typed } = body;
    const email = typed === undefined ? null : requireFields({ email: checkEmail(typed) }).email;
    if (withBooking) takeTestBooking(testBookings.take(owner, deps.clock.now()));
    const check = await checkConnection(deps, owner, { id, withBooking, email });
    if (check.kind === "not_found") throw notFound("Connection");
    if (check.kind === "closed")
      throw new ApiError("conflict", "The credentials of this connection can't be read. Enter them again.");
    return { ...check, settings: { ...check.settings }, steps: [...check.steps], exchanges: [...check.exchanges] };
  });
}

function takeTestBooking(verdict: RateLimitVerdict): void {
  if (!verdict.isAllowed) throw rateLimited(verdict, "Too many test bookings. Wait a minute, then try again.");
}

function toEdit(id: ConnectionId, { name, settings, credentials, followsChanges }: ConnectionChange): ConnectionEdit {
  const hasParts = settings !== undefined || credentials !== undefined;
  return {
    id,
    ...(name === undefined ? {} : { name: checkName(name) }),
    ...(followsChanges === undefined ? {} : { followsChanges }),
    ...(hasParts ? { parts: { settings: settings ?? {}, credentials: credentials ?? {} } } : {}),
  };
}

/** The form has no single field for the settings, so the conflict is reported for the form as a whole. */
function requireSameConnection(row: ConnectionRow, change: ConnectionChange): void {
  requireUnchanged({ name: row.name }, change);
  const before = change.was?.["settings"];
  if (before !== undefined && ![before, change.settings].some((each) => isDeepStrictEqual(each, row.settings)))
    throw new ApiError("conflict", "Someone else changed the settings in the meantime. Review them before you save.");
}

async function requireConnection(deps: Pick<OpenDeps, "db">, owner: OrganizationId, text: string) {
  const id = parseConnectionId(text);
  const connection = id && (await findConnection(deps.db, owner, id));
  if (!connection) throw notFound("Connection");
  return connection;
}

async function readConnection(
  deps: Pick<OpenDeps, "db">,
  owner: OrganizationId,
  id: ConnectionId,
): Promise<AppConnection> {
  const row = await requireConnection(deps, owner, id);
  return toAppConnection(row, (await countWidgetsByConnection(deps.db, owner)).get(id) ?? 0);
}

function checkName(typed: string): string {
  return requireFields({ name: checkLine(typed, { lengthMax: CONNECTION_NAME_LENGTH_MAX }) }).name;
}

function toApiError(refusal: ConnectionRefusal, kind: ConnectionKind): ApiError {
  switch (refusal.kind) {
    case "fields_refused":
      return new FieldsError(Object.fromEntries(refusal.fields.map((name) => [name, "Missing or invalid."])));
    case "test_failed":
      return refusal.failure.kind === "unavailable"
        ? new ApiError("scheduler_unavailable", describeFailure(refusal.failure, kind))
        : new FieldsError({ credentials: describeFailure(refusal.failure, kind) });
    case "too_many":
      return new ApiError("conflict", describeCap("scheduling_connections", refusal.most));
    case "in_use":
      return new ApiError("conflict", "Widgets still use this connection. Choose another connection for them first.");
    case "booking_under_way":
      return new ApiError(
        "conflict",
        "A booking through this connection isn't confirmed yet. Try again in half an hour.",
      );
    case "not_found":
      return notFound("Connection");
    default:
      return refusal satisfies never;
  }
}

/** Only the first request knows whether the same credentials were sent. */
function addedBefore(): ApiError {
  return new ApiError("conflict", "This connection is already saved. See the list.");
}

function toAppConnection(row: ConnectionRow, widgetCount: number): AppConnection {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    // Always written as an object of texts. Credentials are stored separately.
    settings: row.settings as Record<string, string>,
    followsChanges: row.follows_changes,
    getsNotices: row.subscription_id !== null,
    isHealthy: row.last_error_at === null || (row.last_ok_at !== null && row.last_ok_at > row.last_error_at),
    lastOkAt: row.last_ok_at?.toISOString() ?? null,
    lastError: row.last_error,
    lastErrorAt: row.last_error_at?.toISOString() ?? null,
    lastErrorStatus: row.last_error_status,
    lastErrorRequestId: row.last_error_request_id,
    widgetCount,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

function toVerified({ businessName, timeZone, bookingUrl, warnings }: Verified): VerifiedConnection {
  return { businessName, timeZone, bookingUrl, warnings: [...warnings] };
}
