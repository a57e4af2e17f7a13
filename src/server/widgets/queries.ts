import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { WidgetsTable } from "../db/tables.ts";

export const WIDGET_COLUMNS = [
  "id",
  "organization_id",
  "name",
  "business_name",
  "booking_url",
  "template",
  "status",
  "collect_data",
  "created_at",
] as const;

export type WidgetRow = Pick<Selectable<WidgetsTable>, (typeof WIDGET_COLUMNS)[number]>;

export async function listWidgets(db: Db, owner: OrganizationId): Promise<WidgetRow[]> {
  return await db
    .selectFrom("widgets")
    .select(WIDGET_COLUMNS)
    .where("organization_id", "=", owner)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

export async function ownsWidget(db: Db, owner: OrganizationId, id: WidgetId): Promise<boolean> {
  const row = await db
    .selectFrom("widgets")
    .select("id")
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .executeTakeFirst();
  return row !== undefined;
}

/** Without an owner, for the command line. */
export async function findWidget(db: Db, id: WidgetId): Promise<WidgetRow | null> {
  return (await db.selectFrom("widgets").select(WIDGET_COLUMNS).where("id", "=", id).executeTakeFirst()) ?? null;
}

export async function insertWidget(db: Db, row: Insertable<WidgetsTable>): Promise<void> {
  await db.insertInto("widgets").values(row).execute();
}

/** Without an owner, for the command line. */
export async function updateWidget(
  db: Db,
  id: WidgetId,
  change: Updateable<WidgetsTable>,
): Promise<(WidgetRow & { former_name: string }) | null> {
  const row = await db
    .updateTable("widgets")
    .set(change)
    .where("id", "=", id)
    .returning([...WIDGET_COLUMNS, sql<string>`old.name`.as("former_name")])
    .executeTakeFirst();
  return row ?? null;
}
