import { type Insertable, type Selectable, sql, type Updateable } from "kysely";
import type { NoticeKind } from "#contract/delivery.ts";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import type { EndpointNoticesTable, EndpointsTable } from "../../db/tables.ts";
import type { EndpointHealth } from "../queue/report-queries.ts";

const COLUMNS = [
  "id",
  "organization_id",
  "kind",
  "url",
  "description",
  "status",
  "disabled_reason",
  "disabled_at",
  "secret_hint",
  "secret_created_at",
  "previous_secret_expires_at",
  "failing_since",
  "failed_attempts",
  "refused_deliveries",
  "last_attempt_at",
  "last_success_at",
  "last_status",
  "paused_until",
  "created_at",
  "updated_at",
] as const;

/** Without the sealed secrets: whoever lists endpoints has no use for them. */
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
  const row = await db
    .selectFrom("endpoints")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

/** As it is now, held until the transaction ends. */
export async function lockEndpoint(
  transaction: Db,
  owner: OrganizationId,
  id: EndpointId,
): Promise<EndpointRow | null> {
  const row = await transaction
    .selectFrom("endpoints")
    .select(COLUMNS)
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** Without an owner, for the operator's command line. */
export async function findEndpointOwner(db: Db, id: EndpointId): Promise<OrganizationId | null> {
  const row = await db
    .selectFrom("endpoints")
    .select("organization_id")
    .where("id", "=", id)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return row?.organization_id ?? null;
}

/** Without an owner, for the operator's command line. */
export async function findDeliveryOwner(db: Db, id: DeliveryId): Promise<OrganizationId | null> {
  const row = await db.selectFrom("deliveries").select("organization_id").where("id", "=", id).executeTakeFirst();
  return row?.organization_id ?? null;
}

/** False when the organization has as many as it may have. The organization's row is locked: two at once cannot both fit. */
export async function insertEndpoint(
  transaction: Db,
  owner: OrganizationId,
  { row, most }: { row: Omit<Insertable<EndpointsTable>, "organization_id">; most: number },
): Promise<boolean> {
  await transaction.selectFrom("organizations").select("id").where("id", "=", owner).forNoKeyUpdate().execute();
  const { count } = await transaction
    .selectFrom("endpoints")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("organization_id", "=", owner)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  if (count >= most) return false;
  await transaction
    .insertInto("endpoints")
    .values({ ...row, organization_id: owner })
    .execute();
  return true;
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

/** The secret that was current goes on signing until the overlap ends. */
export async function replaceSecret(
  db: Db,
  owner: OrganizationId,
  change: { id: EndpointId; secret: Buffer; hint: string; now: Date; previousExpiresAt: Date },
): Promise<EndpointRow | null> {
  const row = await db
    .updateTable("endpoints")
    .set((set) => ({
      secret: change.secret,
      secret_hint: change.hint,
      secret_created_at: change.now,
      previous_secret: set.ref("secret"),
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

type FailingEndpoint = Pick<EndpointHealth, "endpoint_id" | "failing_since">;

/** False when it is off, or removed, already: what switched it off first counts. So does a success or a new URL since then. */
export async function switchOffFailing(
  db: Db,
  owner: OrganizationId,
  { endpoint_id: id, failing_since }: FailingEndpoint,
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable("endpoints")
    .set({ status: "disabled", disabled_reason: "failing", disabled_at: now, updated_at: now })
    .where("organization_id", "=", owner)
    .where("id", "=", id)
    .where("status", "=", "enabled")
    .where("failing_since", "=", failing_since)
    .where("removed_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/**
 * At most one of a kind per endpoint since `notSince`; returns when its owner was told before, or null when this notice was
 * written. The endpoint's row is locked: two workers cannot both find that its owner has not been told.
 */
export async function insertNotice(
  db: Db,
  owner: OrganizationId,
  notice: { id: string; endpointId: EndpointId; kind: NoticeKind; detail: string; now: Date; notSince: Date },
): Promise<Date | null> {
  const { id, endpointId, kind, detail, now, notSince } = notice;
  return await db.transaction().execute(async (transaction) => {
    await transaction
      .selectFrom("endpoints")
      .select("id")
      .where("organization_id", "=", owner)
      .where("id", "=", endpointId)
      .forNoKeyUpdate()
      .execute();
    const told = await transaction
      .selectFrom("endpoint_notices")
      .select("created_at")
      .where("organization_id", "=", owner)
      .where("endpoint_id", "=", endpointId)
      .where("kind", "=", kind)
      .where("created_at", ">", notSince)
      .orderBy("created_at", "desc")
      .executeTakeFirst();
    if (told) return told.created_at;
    await transaction
      .insertInto("endpoint_notices")
      .values({ organization_id: owner, id, endpoint_id: endpointId, kind, detail, created_at: now })
      .execute();
    return null;
  });
}

/** When the owner was first told, since it has been failing, that the endpoint will be switched off. */
export async function findWarning(
  db: Db,
  owner: OrganizationId,
  { endpoint_id: endpointId, failing_since: since }: FailingEndpoint,
): Promise<Date | null> {
  const row = await db
    .selectFrom("endpoint_notices")
    .select("created_at")
    .where("organization_id", "=", owner)
    .where("endpoint_id", "=", endpointId)
    .where("kind", "=", "disabling_soon")
    .where("created_at", ">=", since)
    .orderBy("created_at")
    .executeTakeFirst();
  return row?.created_at ?? null;
}

export type NoticeRow = Selectable<EndpointNoticesTable>;

/** What the owner is told of each endpoint that is not removed, or of one, newest first. */
export async function listNotices(
  db: Db,
  owner: OrganizationId,
  { endpointId, limitEach }: { endpointId?: EndpointId; limitEach: number },
): Promise<NoticeRow[]> {
  const one = endpointId ?? null;
  const { rows } = await sql<NoticeRow>`
    select notice.organization_id, notice.id, notice.endpoint_id, notice.kind, notice.detail, notice.created_at
    from endpoints endpoint cross join lateral (
      select organization_id, id, endpoint_id, kind, detail, created_at from endpoint_notices
      where organization_id = endpoint.organization_id and endpoint_id = endpoint.id
      order by created_at desc, id limit ${limitEach}
    ) notice
    where endpoint.organization_id = ${owner} and endpoint.removed_at is null
      and (${one}::text is null or endpoint.id = ${one})
    order by notice.created_at desc, notice.id`.execute(db);
  return rows;
}
