import type { Insertable, Selectable } from "kysely";
import { type ConnectionId, type OrganizationId, parseWidgetId, type WidgetId } from "#contract/ids.ts";
import {
  NO_OPTIONS,
  type Offer,
  type Template,
  type WidgetOptions,
  type WidgetStatus,
} from "#contract/widgets/widget.ts";
import type { Db } from "../db/connections/pool.ts";
import { readAnywhere, readAtHome } from "../db/home.ts";
import { runPrepared } from "../db/statements/run-prepared.ts";
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

export type BookableWidget = {
  id: WidgetId;
  organizationId: OrganizationId;
  connectionId: ConnectionId | null;
  name: string;
  businessName: string;
  bookingUrl: string | null;
  template: Template;
  status: WidgetStatus;
  accentColor: string | null;
  allowedDomains: readonly string[];
  options: WidgetOptions;
  /** Null: everything. */
  offer: Offer | null;
  /** When the logo was last changed; null: there is none, or this widget doesn't show it. */
  logoUpdatedAt: Date | null;
  timeZone: string;
};

/** Without an owner: a visitor knows only the widget's id. */
export async function findBookableWidget(db: Db, id: WidgetId): Promise<BookableWidget | null> {
  const statement = db
    .selectFrom("widgets")
    .innerJoin("organizations", "organizations.id", "widgets.organization_id")
    .leftJoin("organization_logos", "organization_logos.organization_id", "widgets.organization_id")
    .select([
      "widgets.id",
      "widgets.organization_id",
      "widgets.connection_id",
      "widgets.name",
      "widgets.business_name",
      "widgets.booking_url",
      "widgets.template",
      "widgets.status",
      "widgets.accent_color",
      "widgets.allowed_domains",
      "widgets.options",
      "widgets.offers",
      "organization_logos.updated_at as logo_updated_at",
      "organizations.name as organization_name",
      "organizations.time_zone",
    ])
    .where("widgets.id", "=", id);
  const [row] = await readAnywhere(db, (home) => runPrepared(home, "find_bookable_widget", statement));
  if (!row) return null;
  const options = { ...NO_OPTIONS, ...row.options };
  return {
    id: row.id,
    organizationId: row.organization_id,
    connectionId: row.connection_id,
    name: row.name,
    businessName: row.business_name || row.organization_name,
    bookingUrl: row.booking_url,
    template: row.template,
    status: row.status,
    accentColor: row.accent_color,
    allowedDomains: row.allowed_domains,
    options,
    offer: row.offers[row.connection_id ?? "sandbox"] ?? null,
    logoUpdatedAt: options.showsLogo ? row.logo_updated_at : null,
    timeZone: row.time_zone ?? "UTC",
  };
}

/**
 * The widget's switches; null if it was deleted. Whoever changes them waits until this transaction ends, and this transaction waits
 * for a change that is under way. So nothing is booked or stored against a change that was acknowledged.
 */
export async function holdSwitches(
  transaction: Db,
  owner: OrganizationId,
  id: WidgetId,
): Promise<{ status: WidgetStatus; storesBookings: boolean } | null> {
  const statement = transaction
    .selectFrom("widgets")
    .select(["status", "collect_data as storesBookings"])
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .forShare();
  const [row] = await runPrepared(transaction, "hold_switches", statement);
  return row ?? null;
}
