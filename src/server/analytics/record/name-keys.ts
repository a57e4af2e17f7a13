import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { toArrayText } from "../../db/array-text.ts";
import { toStatementGroups } from "../../db/engine.ts";
import { table } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { KEY_KINDS, type KeyKind } from "./key-id.ts";
import { toVisitName } from "./record-statement.ts";
import type { Touch } from "./touch.ts";

/** A key, and the starts of the visits in a batch that have it. */
export type NewKey = {
  readonly organizationId: OrganizationId;
  readonly id: number;
  readonly kind: number;
  readonly key: string;
  readonly starts: Touch[];
};

/** Stores keys that a visit was recorded with, and marks them as used today. Strangers could fill the table with others. */
export async function nameKeys(transaction: Db, keys: readonly NewKey[], now: Date): Promise<void> {
  for (const { rows, owns } of toStatementGroups(transaction, keys)) {
    const starts = [...new Set(rows.flatMap((key) => key.starts))];
    const visits = await selectVisits<Record<KeyKind, number>>(transaction, { starts, owns, columns: KEY_KINDS });
    const used = new Set(visits.flatMap((visit) => KEY_KINDS.map((kind) => `${visit.organization_id} ${visit[kind]}`)));
    const named = rows
      .filter(({ organizationId, id }) => used.has(`${organizationId} ${id}`))
      .map(({ starts: _, ...key }) => key);
    await sql`-- prepared: name_keys
      insert into ${table("funnel_keys", "stored")} (organization_id, id, kind, key, used_on)
      select "organizationId", id, kind, key, ${now.toISOString()}::date
      from jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as named ("organizationId" text, id bigint, kind smallint, key text)
      order by "organizationId" collate "C", id
      on conflict (organization_id, id) do update set used_on = excluded.used_on where stored.used_on < excluded.used_on`.execute(
      transaction,
    );
  }
}

/** The names of those visits that are recorded. */
export async function listKnownVisits(db: Db, visits: readonly Touch[]): Promise<Set<string>> {
  const known = new Set<string>();
  for (const { rows: starts, owns } of toStatementGroups(db, visits))
    for (const row of await selectVisits<object>(db, { starts, owns, columns: [] }))
      known.add(toVisitName({ widgetId: row.widget_id, visitId: row.visit_id }));
  return known;
}

type VisitRow = { organization_id: OrganizationId; widget_id: Touch["widgetId"]; visit_id: string };

/** Not a join: PostgreSQL expects few visits of a new organization, and would read all of them for each visit of the batch. */
async function selectVisits<Columns extends object>(
  db: Db,
  {
    starts,
    owns,
    columns,
  }: { starts: readonly Touch[]; owns: (column: string) => RawBuilder<unknown>; columns: readonly string[] },
): Promise<(VisitRow & Columns)[]> {
  const values = (name: "organizationId" | "widgetId" | "visitId") =>
    toArrayText([...new Set(starts.map((start) => start[name]))]);
  const names = ["organization_id", "widget_id", "visit_id", ...columns];
  const { rows } = await sql<VisitRow & Columns>`
    select ${sql.join(names.map((name) => sql.ref(name)))} from ${table("funnel_visits")}
    where ${owns("organization_id")} and organization_id = any(${values("organizationId")}::text[])
      and widget_id = any(${values("widgetId")}::text[]) and visit_id = any(${values("visitId")}::uuid[])`.execute(db);
  return rows;
}
