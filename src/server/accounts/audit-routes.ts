import { AUDIT_ACTIONS, type AuditEntry, OPERATOR } from "#contract/app/audit.ts";
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
import { readPage, readRowCursor, toRowCursor } from "../http/paging.ts";
import {
  badParameter,
  type Query,
  readChoice,
  readInstant,
  readPageSize,
  readParameter,
  readSearch,
} from "../http/parameters.ts";
import type { HttpRoutes } from "./auth/route-table.ts";

type AuditDeps = Pick<Deps, "db" | "longRunningDb" | "clock" | "random">;

/** The organization's audit log. */
export function auditRoutes(routes: HttpRoutes, deps: AuditDeps, csv: CsvExports): void {
  routes.add("listAuditEntries", async ({ member, query }) => {
    const before = readRowCursor(query, "cursor");
    const filter = readFilter(query);
    const { rows, nextCursor } = await readPage({
      limit: readPageSize(query, "limit"),
      read: (limit) => listAuditEntries(deps.db, member.organizationId, { ...filter, before, limit }),
      toCursor: toRowCursor,
    });
    return { data: rows.map(toEntry), nextCursor };
  });

  routes.add("listAuditPeople", async ({ member }) => ({
    data: await listAuditPeople(deps.db, member.organizationId),
  }));

  routes.add("exportAudit", async ({ member, query, request, reply }) => {
    const { organizationId: owner } = member;
    const filter = readFilter(query);
    const at = deps.clock.now();
    const prepare = async () => {
      await auditBy(deps, member, at)(deps.db, { action: "audit.exported" });
      const fileName = `audit-log-${at.toISOString().slice(0, 10)}`;
      return { fileName, lines: exportAudit(deps.longRunningDb, owner, filter) };
    };
    return await csv.send({ request, reply }, { owner, prepare });
  });
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
