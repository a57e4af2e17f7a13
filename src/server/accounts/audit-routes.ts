import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AUDIT_ACTIONS, type AuditEntry, AuditPage, AuditPeople, OPERATOR } from "#contract/app/audit.ts";
import {
  type AuditFilter,
  type AuditRow,
  auditBy,
  exportAudit,
  listAuditEntries,
  listAuditPeople,
} from "../audit/audit.ts";
import type { Deps } from "../deps.ts";
import type { CsvExports } from "../http/csv-exports.ts";
import { readPage, readPlaceCursor, toPlaceCursor } from "../http/paging.ts";
import {
  badParameter,
  type Query,
  readChoice,
  readInstant,
  readPageSize,
  readParameter,
  readSearch,
} from "../http/parameters.ts";
import { memberOf } from "./auth/member-auth.ts";

type AuditDeps = Pick<Deps, "db" | "patientDb" | "clock" | "random">;

/** The organization's audit log. Behind the member guard. */
export function auditRoutes(app: FastifyInstance, deps: AuditDeps, csv: CsvExports): void {
  app.get<{ Querystring: Query }>("/audit", { schema: { response: { 200: AuditPage } } }, async (request) => {
    const { organizationId } = memberOf(request);
    const before = readPlaceCursor(request.query, "cursor");
    const filter = readFilter(request.query);
    const { rows, nextCursor } = await readPage({
      limit: readPageSize(request.query, "limit"),
      read: (limit) => listAuditEntries(deps.db, organizationId, { ...filter, before, limit }),
      toCursor: toPlaceCursor,
    });
    return { data: rows.map(toEntry), nextCursor };
  });

  app.get("/audit/people", { schema: { response: { 200: AuditPeople } } }, async (request) => ({
    data: await listAuditPeople(deps.db, memberOf(request).organizationId),
  }));

  // Not for HEAD: the log would show an export that never happened.
  app.get("/audit.csv", { exposeHeadRoute: false }, async (request, reply) =>
    sendExport({ ...deps, csv }, request, reply),
  );
}

async function sendExport(
  deps: AuditDeps & { readonly csv: CsvExports },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const member = memberOf(request);
  const { organizationId: owner } = member;
  const filter = readFilter(request.query as Query);
  const at = deps.clock.now();
  const prepare = async () => {
    await auditBy(deps, member, at)(deps.db, { action: "audit.exported" });
    const fileName = `audit-log-${at.toISOString().slice(0, 10)}`;
    return { fileName, lines: exportAudit(deps.patientDb, owner, filter) };
  };
  return await deps.csv.send({ request, reply }, { owner, prepare });
}

function readFilter(query: Query): AuditFilter {
  const person = readParameter(query, "person");
  // PostgreSQL can't store null characters.
  if (person?.includes("\0")) throw badParameter("person", "must be the ID of a person");
  return {
    by: person === null ? null : person === OPERATOR ? "none" : { userId: person },
    action: readChoice(query, "action", AUDIT_ACTIONS),
    from: readInstant(query, "from", "down"),
    to: readInstant(query, "to", "up"),
    search: readSearch(query),
  };
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: row.at.toISOString(),
    actor: { userId: row.user_id, email: row.email, name: row.name },
    action: row.action,
    target: row.target,
    detail: row.detail,
  };
}
