import type { FastifyInstance } from "fastify";
import { type AuditEntry, AuditPage } from "#contract/app/audit.ts";
import { type AuditRow, listAuditEntries } from "../audit/queries.ts";
import type { Deps } from "../deps.ts";
import { readPage, readPlaceCursor, toPlaceCursor } from "../http/page.ts";
import { type Query, readPageSize } from "../http/parameters.ts";
import { memberOf } from "./auth/member-auth.ts";

/** The organization's audit log. Behind the member guard. */
export function auditRoutes(app: FastifyInstance, deps: Pick<Deps, "db">): void {
  app.get<{ Querystring: Query }>("/audit", { schema: { response: { 200: AuditPage } } }, async (request) => {
    const { organizationId } = memberOf(request);
    const before = readPlaceCursor(request.query, "cursor");
    const { rows, nextCursor } = await readPage({
      limit: readPageSize(request.query, "limit"),
      read: (limit) => listAuditEntries(deps.db, organizationId, { before, limit }),
      toCursor: toPlaceCursor,
    });
    return { data: rows.map(toEntry), nextCursor };
  });
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
