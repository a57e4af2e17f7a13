import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import {
  type AppConnection,
  AppConnectionList,
  CONNECTION_NAME_LENGTH_MAX,
  ConnectionChange,
  ConnectionTest,
  NewConnection,
  SavedConnection,
} from "#contract/app/connections.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { CONNECTIONS_PER_ORGANIZATION_MAX, type ConnectionId, parseConnectionId } from "#contract/scheduling.ts";
import { memberOf } from "../accounts/member-auth.ts";
import { auditBy } from "../audit/audit-by.ts";
import { ApiError, FieldsError } from "../http/api-error.ts";
import { bodyReader, FormCheck } from "../http/body.ts";
import { requireUnchanged } from "../http/require-unchanged.ts";
import { countWidgetsByConnection, findConnection, listConnections } from "./connection-queries.ts";
import {
  type Alongside,
  addConnection,
  type ConnectionRefusal,
  removeConnection,
  renameConnection,
  replaceConnectionParts,
  testConnection,
} from "./connections.ts";
import type { OpenDeps } from "./open-system.ts";
import { describeFailure, toAppConnection, toVerified } from "./to-app-connection.ts";

type WithConnection = { Params: { connection: string } };

/** A system has its own limits of time; nobody else ends the asking. */
const unending = () => new AbortController().signal;

export function connectionAppRoutes(api: FastifyInstance, deps: OpenDeps): void {
  const readNewConnection = bodyReader(NewConnection);
  const readConnectionChange = bodyReader(ConnectionChange);

  api.get("/connections", { schema: { response: { 200: AppConnectionList } } }, async (request) => {
    const owner = memberOf(request).organizationId;
    const counts = await countWidgetsByConnection(deps.db, owner);
    const rows = await listConnections(deps.db, owner);
    return { data: rows.map((row) => toAppConnection(row, counts.get(row.id) ?? 0)) };
  });

  api.post("/connections", { schema: { response: { 201: SavedConnection } } }, async (request, reply) => {
    const member = memberOf(request);
    const typed = readNewConnection(request);
    const wanted = { ...typed, name: checkName(typed.name) };
    const audit = auditBy(member, deps.clock.now());
    const alongside: Alongside = (transaction, target) => audit(transaction, { action: "connection.added", target });
    const outcome = await addConnection(deps, member.organizationId, wanted, unending(), alongside);
    if (outcome.kind !== "added") throw toApiError(outcome);
    const connection = await readConnection(deps, member.organizationId, outcome.id);
    return reply.code(201).send({ connection, verified: toVerified(outcome.verified) });
  });

  api.patch<WithConnection>(
    "/connections/:connection",
    { schema: { response: { 200: SavedConnection } } },
    async (request) => {
      const member = memberOf(request);
      const owner = member.organizationId;
      const known = await requireConnection(deps, owner, request.params.connection);
      const { id } = known;
      const { name, settings, credentials, was } = readConnectionChange(request);
      requireUnchanged({ name: known.name }, was);
      if (was?.["settings"] !== undefined && !isDeepStrictEqual(was["settings"], known.settings))
        throw new ApiError("conflict", "Somebody else replaced the settings meanwhile. Look at them before you save.");
      const newName = name === undefined ? null : checkName(name);
      const audit = auditBy(member, deps.clock.now());
      const alongside: Alongside = (transaction, target) =>
        audit(transaction, { action: "connection.changed", target });
      let verified: SavedConnection["verified"] = null;
      if (settings !== undefined || credentials !== undefined) {
        const wanted = { id, settings: settings ?? {}, credentials: credentials ?? {} };
        const outcome = await replaceConnectionParts(deps, owner, wanted, unending(), alongside);
        if (outcome.kind !== "replaced") throw toApiError(outcome);
        verified = toVerified(outcome.verified);
      }
      if (newName !== null)
        await deps.db.transaction().execute(async (transaction) => {
          await renameConnection({ db: transaction }, owner, { id, name: newName });
          await alongside(transaction, id);
        });
      return { connection: await readConnection(deps, owner, id), verified };
    },
  );

  api.delete<WithConnection>("/connections/:connection", async (request, reply) => {
    const member = memberOf(request);
    const owner = member.organizationId;
    const { id } = await requireConnection(deps, owner, request.params.connection);
    await deps.db.transaction().execute(async (transaction) => {
      const outcome = await removeConnection({ db: transaction }, owner, id);
      if (outcome.kind !== "removed") throw toApiError(outcome);
      await auditBy(member, deps.clock.now())(transaction, { action: "connection.removed", target: id });
    });
    return reply.code(204).send();
  });

  api.post<WithConnection>(
    "/connections/:connection/test",
    { schema: { response: { 200: ConnectionTest } } },
    async (request): Promise<ConnectionTest> => {
      const owner = memberOf(request).organizationId;
      const { id } = await requireConnection(deps, owner, request.params.connection);
      const outcome = await testConnection(deps, owner, id, unending());
      if (outcome.kind === "not_found") throw noSuchConnection();
      if (outcome.kind === "found") return { verified: toVerified(outcome.value), fault: null, message: null };
      const fault = outcome.kind === "refused" ? outcome.reason : "unavailable";
      return { verified: null, fault, message: describeFailure(outcome) };
    },
  );
}

async function requireConnection(deps: Pick<OpenDeps, "db">, owner: OrganizationId, text: string) {
  const id = parseConnectionId(text);
  const connection = id && (await findConnection(deps.db, owner, id));
  if (!connection) throw noSuchConnection();
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
  const form = new FormCheck();
  const name = form.line("name", typed, { lengthMax: CONNECTION_NAME_LENGTH_MAX });
  form.done();
  return name;
}

function toApiError(refusal: ConnectionRefusal): ApiError {
  switch (refusal.kind) {
    case "fields_refused":
      return new FieldsError(Object.fromEntries(refusal.fields.map((name) => [name, "This is missing or not right."])));
    case "test_failed":
      return refusal.failure.kind === "unavailable"
        ? new ApiError("scheduler_unavailable", describeFailure(refusal.failure))
        : new FieldsError({ credentials: describeFailure(refusal.failure) });
    case "too_many":
      return new ApiError(
        "conflict",
        `The organization has ${CONNECTIONS_PER_ORGANIZATION_MAX} connections already; that is the most.`,
      );
    case "in_use":
      return new ApiError("conflict", "Widgets still book through this connection. Give them another one first.");
    case "not_found":
      return noSuchConnection();
    default:
      return refusal satisfies never;
  }
}

function noSuchConnection(): ApiError {
  return new ApiError("not_found", "There is no such connection.");
}
