import type { Insertable, Selectable, Updateable } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import { CHOSEN_EVENT_TYPES, ENDPOINT_FILTERS, type EndpointKind } from "#contract/webhooks/endpoint.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { EndpointsTable } from "../../db/tables/webhook-tables.ts";

const COLUMNS = [
  "id",
  "organization_id",
  "kind",
  "url",
  "receiver",
  "description",
  "status",
  "disabled_reason",
  "disabled_at",
  "secret_hint",
  "secret_created_at",
  "previous_secret_expires_at",
  "failing_since",
  "failed_attempts",
  "is_answering",
  "refused_deliveries",
  "last_attempt_at",
  "last_success_at",
  "last_status",
  "paused_until",
  "event_types",
  "widget_ids",
  ...ENDPOINT_FILTERS,
  "reports_expiry",
  "header_names",
  "requests_per_minute",
  "created_at",
  "updated_at",
] as const;

/** Without the sealed secrets. */
export type EndpointRow = Pick<Selectable<EndpointsTable>, (typeof COLUMNS)[number]>;

export async function listEndpoints(db: Db, owner: OrganizationId): Promise<EndpointRow[]> {
  return await db
    .selectFrom("endpoints")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .where("removed_at", "is", null)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .execute();
}

export async function findEndpoint(db: Db, owner: OrganizationId, id: EndpointId): Promise<EndpointRow | null> {
  return (await selectEndpoint(db, owner, id).executeTakeFirst()) ?? null;
}

/** Locks the endpoint until the transaction ends. */
export async function lockEndpoint(
  transaction: Db,
  owner: OrganizationId,
  id: EndpointId,
): Promise<EndpointRow | null> {
  return (await selectEndpoint(transaction, owner, id).forNoKeyUpdate().executeTakeFirst()) ?? null;
}

function selectEndpoint(db: Db, owner: OrganizationId, id: EndpointId) {
  const endpoint = db.selectFrom("endpoints").select(COLUMNS).where("organization_id", "=", owner);
  return endpoint.where("id", "=", id).where("removed_at", "is", null);
}

/** Across organizations, for the operator's command line. */
export async function findEndpointOwner(db: Db, id: EndpointId): Promise<OrganizationId | null> {
  const row = await db
    .selectFrom("endpoints")
    .select("organization_id")
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row?.organization_id ?? null;
}

/** Across organizations, for the operator's command line. */
export async function findDeliveryOwner(db: Db, id: DeliveryId): Promise<OrganizationId | null> {
  const row = await db.selectFrom("deliveries").select("organization_id").where("id", "=", id).executeTakeFirst();
  return row?.organization_id ?? null;
}

export async function insertEndpoint(
  db: Db,
  owner: OrganizationId,
  row: Omit<Insertable<EndpointsTable>, "organization_id">,
): Promise<EndpointRow> {
  const values = { ...row, organization_id: owner };
  return await db.insertInto("endpoints").values(values).returning(COLUMNS).executeTakeFirstOrThrow();
}

/** True if the organization has room for one more test event. Locks its row, so concurrent calls cannot exceed `most`. */
export async function takeTestPlace(
  transaction: Db,
  owner: OrganizationId,
  { since, most }: { since: Date; most: number },
): Promise<boolean> {
  await transaction.selectFrom("organizations").select("id").where("id", "=", owner).forNoKeyUpdate().execute();
  const { count } = await transaction
    .selectFrom("webhook_events")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organization_id", "=", owner)
    .where("created_at", ">", since)
    .where("type", "=", "endpoint.test")
    .executeTakeFirstOrThrow();
  return count < most;
}

export async function updateEndpoint(
  db: Db,
  owner: OrganizationId,
  { id, change }: { id: EndpointId; change: Updateable<EndpointsTable> },
): Promise<EndpointRow | null> {
  const row = await db
    .updateTable("endpoints")
    .set(change)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export async function listUrls(
  db: Db,
  owner: OrganizationId,
): Promise<Pick<Selectable<EndpointsTable>, "id" | "url" | "sealed_url">[]> {
  return await db
    .selectFrom("endpoints")
    .select(["id", "url", "sealed_url"])
    .where("organization_id", "=", owner)
    .where("removed_at", "is", null)
    .orderBy("created_at")
    .execute();
}

export async function findSealedHeaders(db: Db, owner: OrganizationId, id: EndpointId): Promise<Buffer | null> {
  const row = await db
    .selectFrom("endpoints")
    .select("headers")
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.headers ?? null;
}

/** Keeps the current secret as the previous one until the overlap ends; null: there is none. */
export async function replaceSecret(
  db: Db,
  owner: OrganizationId,
  change: { id: EndpointId; secret: Buffer; hint: string; now: Date; previousExpiresAt: Date | null },
): Promise<EndpointRow | null> {
  const row = await db
    .updateTable("endpoints")
    .set((set) => ({
      secret: change.secret,
      secret_hint: change.hint,
      secret_created_at: change.now,
      previous_secret: change.previousExpiresAt === null ? null : set.ref("secret"),
      previous_secret_expires_at: change.previousExpiresAt,
      updated_at: change.now,
    }))
    .where("organization_id", "=", owner)
    .where("id", "=", change.id)
    .where("removed_at", "is", null)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row ?? null;
}

export type EndpointName = {
  id: EndpointId;
  kind: EndpointKind;
  url: string;
  description: string;
  removed_at: Date | null;
};

/** Includes removed endpoints, because the delivery log still names them. */
export async function listEndpointNames(db: Db, owner: OrganizationId): Promise<EndpointName[]> {
  return await db
    .selectFrom("endpoints")
    .select(["id", "kind", "url", "description", "removed_at"])
    .where("organization_id", "=", owner)
    .execute();
}

/** JSON of the newest events that endpoints can choose, newest first. */
export async function listNewestBodies(db: Db, owner: OrganizationId, limit: number): Promise<Buffer[]> {
  const rows = await db
    .selectFrom("webhook_events")
    .select("body")
    .where("organization_id", "=", owner)
    .where("type", "in", CHOSEN_EVENT_TYPES)
    .where("body", "is not", null)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.flatMap(({ body }) => body ?? []);
}
