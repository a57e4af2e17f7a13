import type { FastifyInstance } from "fastify";
import { type AuditEntry, AuditPage } from "#contract/app/audit.ts";
import { UUID_PATTERN } from "#contract/collect.ts";
import { type AuditRow, listAuditEntries } from "../audit/queries.ts";
import type { Deps } from "../deps.ts";
import { badParameter, type Query, readPageSize, readParameter } from "../http/parameters.ts";
import { parseIsoInstant } from "../lib/iso-instant.ts";
import { memberOf, requireRole } from "./member-auth.ts";

/** What was done in the organization, and by whom. Behind the member guard. */
export function auditRoutes(app: FastifyInstance, deps: Pick<Deps, "db">): void {
  app.get<{ Querystring: Query }>(
    "/audit",
    { onRequest: requireRole("admin"), schema: { hide: true, response: { 200: AuditPage } } },
    async (request) => {
      const limit = readPageSize(request.query, "limit");
      const before = readCursor(request.query);
      // One more than is shown tells whether there is a next page.
      const { organizationId } = memberOf(request);
      const rows = await listAuditEntries(deps.db, organizationId, { before, limit: limit + 1 });
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const nextCursor = rows.length > limit && last ? `${last.at.toISOString()}_${last.id}` : null;
      return { data: shown.map(toEntry), nextCursor };
    },
  );
}

function readCursor(query: Query): { at: Date; id: string } | null {
  const text = readParameter(query, "cursor");
  if (text === null) return null;
  const [instant = "", id = "", ...rest] = text.split("_");
  const at = parseIsoInstant(instant, "down");
  const isId = new RegExp(UUID_PATTERN).test(id);
  if (!at || !isId || rest.length > 0) throw badParameter("cursor", "must be the nextCursor of a page");
  return { at, id };
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
