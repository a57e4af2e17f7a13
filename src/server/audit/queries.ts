import { type Insertable, type RawBuilder, sql } from "kysely";
import { AUDIT_ACTIONS, AUDIT_WORDS, type AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import type { AuditEntriesTable } from "../db/tables/account-tables.ts";
import type { RowPosition } from "../http/paging.ts";

export async function insertAuditEntry(db: Db, row: Insertable<AuditEntriesTable>): Promise<void> {
  await db.insertInto("audit_entries").values(row).execute();
}

export type AuditRow = {
  id: string;
  at: Date;
  user_id: string | null;
  email: string | null;
  name: string | null;
  action: string;
  target: string | null;
  detail: Record<string, string | number>;
};

export type AuditFilter = {
  /** `none`: entries without a person. */
  by: { userId: string } | "none" | null;
  action: AuditAction | null;
  /** Inclusive. */
  from: Date | null;
  /** Exclusive. */
  to: Date | null;
  search: string | null;
};

/** Newest first. The next page starts after the time and id of the last entry. Read along audit_entries_by_time. */
export async function listAuditEntries(
  db: Db,
  owner: OrganizationId,
  { before, limit, ...filter }: AuditFilter & { before: RowPosition | null; limit: number },
): Promise<AuditRow[]> {
  const { by, action, from, to, search } = filter;
  const contains = search === null ? null : containsText(search, await findPeople(db, owner, search));
  const entries = await db
    .selectFrom("audit_entries")
    .select(["id", "at", "user_id", "email", "action", "target", "detail"])
    .where("organization_id", "=", owner)
    .$if(before !== null, (all) => all.where(sql<boolean>`(at, id) < (${before?.at}, ${before?.id}::uuid)`))
    .$if(by === "none", (all) => all.where("user_id", "is", null))
    .$if(by !== null && by !== "none", (all) => all.where("user_id", "=", (by as { userId: string }).userId))
    .$if(action !== null, (all) => all.where("action", "=", action as AuditAction))
    .$if(from !== null, (all) => all.where("at", ">=", from as Date))
    .$if(to !== null, (all) => all.where("at", "<", to as Date))
    .$if(contains !== null, (all) => all.where(contains as RawBuilder<boolean>))
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  const names = await findNames(db, [...new Set(entries.flatMap(({ user_id: id }) => id ?? []))]);
  return entries.map((entry) => ({ ...entry, name: names.get(entry.user_id ?? "") ?? null }));
}

/** Everyone with an audit entry, with the address in their latest one. */
export async function listAuditPeople(
  db: Db,
  owner: OrganizationId,
): Promise<{ userId: string; email: string | null; name: string | null }[]> {
  const { rows } = await sql<{ userId: string; email: string | null }>`
    select distinct on (user_id) user_id as "userId", email from audit_entries
    where organization_id = ${owner} and user_id is not null
    order by user_id, at desc`.execute(db);
  const names = await findNames(
    db,
    rows.map(({ userId }) => userId),
  );
  return rows.map((row) => ({ ...row, name: names.get(row.userId) ?? null }));
}

/** What an entry says was done; null if there is none with this id. */
export async function findAuditEntry(
  db: Db,
  owner: OrganizationId,
  id: string,
): Promise<Pick<AuditRow, "target" | "detail"> | null> {
  const row = await db
    .selectFrom("audit_entries")
    .select(["target", "detail"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

async function findPeople(db: Db, owner: OrganizationId, search: string): Promise<string[]> {
  const people = await listAuditPeople(db, owner);
  const text = search.toLowerCase();
  return people.filter(({ name }) => name?.toLowerCase().includes(text)).map(({ userId }) => userId);
}

/** In the action's words or name, the target, the facts or the address, in any letter case; or by one of these people. */
function containsText(search: string, people: readonly string[]): RawBuilder<boolean> {
  const actions = AUDIT_ACTIONS.filter((action) => AUDIT_WORDS[action].toLowerCase().includes(search.toLowerCase()));
  return sql`(user_id = any(${people}) or action = any(${actions}) or strpos(lower(concat_ws(${"\n"}, action, target, email,
    (select string_agg(value, ${"\n"}) from jsonb_each_text(detail)))), lower(${search})) > 0)`;
}

/** A statement of its own: people may be on another server than the organization's rows. */
async function findNames(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const users = await db.selectFrom("users").select(["id", "name"]).where("id", "in", ids).execute();
  return new Map(users.map(({ id, name }) => [id, name]));
}
