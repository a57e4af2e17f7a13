import type { Insertable, Selectable } from "kysely";
import { type OrganizationId, parseWidgetId, type WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import { readAtHome } from "../db/home.ts";
import type { WidgetsTable } from "../db/tables/tables.ts";
import { notFound } from "../http/errors/api-error.ts";

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

type WidgetRow = Pick<Selectable<WidgetsTable>, (typeof WIDGET_COLUMNS)[number]>;

export type ListedWidgetRow = WidgetRow &
  Pick<Selectable<WidgetsTable>, "connection_id"> & { organization_name: string };

export async function listWidgets(db: Db, owner: OrganizationId): Promise<ListedWidgetRow[]> {
  return await readAtHome(db, owner, (home) =>
    home
      .selectFrom("widgets")
      .innerJoin("organizations", "organizations.id", "widgets.organization_id")
      .select(WIDGET_COLUMNS.map((name) => `widgets.${name}` as const))
      .select(["widgets.connection_id", "organizations.name as organization_name"])
      .where("widgets.organization_id", "=", owner)
      .orderBy("widgets.created_at", "desc")
      .orderBy("widgets.id")
      .execute(),
  );
}

async function ownsWidget(db: Db, owner: OrganizationId, id: WidgetId): Promise<boolean> {
  const row = await readAtHome(db, owner, (home) =>
    home
      .selectFrom("widgets")
      .select("id")
      .where("organization_id", "=", owner)
      .where("id", "=", id)
      .executeTakeFirst(),
  );
  return row !== undefined;
}

/** Across organizations, for the operator's command line. */
export async function findWidgetOwner(db: Db, id: WidgetId): Promise<OrganizationId | null> {
  const row = await db.selectFrom("widgets").select("organization_id").where("id", "=", id).executeTakeFirst();
  return row?.organization_id ?? null;
}

export async function insertWidget(db: Db, row: Insertable<WidgetsTable>): Promise<void> {
  await db.insertInto("widgets").values(row).execute();
}

/** Guard: unknown, malformed and other organizations' ids get exactly the same response. */
export async function requireWidget(db: Db, owner: OrganizationId, text: string): Promise<WidgetId> {
  const id = parseWidgetId(text);
  if (id === null || !(await ownsWidget(db, owner, id))) throw notFound("Widget");
  return id;
}

export async function readWidgetNames(db: Db, owner: OrganizationId): Promise<ReadonlyMap<WidgetId, string>> {
  return new Map((await listWidgets(db, owner)).map(({ id, name }) => [id, name]));
}
