import { sql } from "kysely";
import type { OrganizationId, Reference } from "#contract/ids.ts";
import type { Db } from "../../../db/connections/pool.ts";

export async function noteGoogleExport(
  db: Db,
  owner: OrganizationId,
  { references, conversionName }: { references: readonly Reference[]; conversionName: string },
): Promise<void> {
  await sql`
    update bookings set google_conversion_name = ${conversionName}
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])
      and google_conversion_name is distinct from ${conversionName}`.execute(db);
}

type Retraction = { reference: Reference; conversionName: string; cancelledAt: Date };

/** Those of these bookings that were exported for Google Ads and cancelled since, newest booking first. */
export async function readRetractions(
  db: Db,
  owner: OrganizationId,
  references: readonly Reference[],
): Promise<Retraction[]> {
  const { rows } = await sql<Retraction>`
    select reference, google_conversion_name as "conversionName", cancelled.at as "cancelledAt"
    from bookings
    join lateral (
      select max(changed_at) as at from booking_changes
      where organization_id = ${owner} and booking_changes.reference = bookings.reference and type = 'cancelled'
    ) cancelled on cancelled.at is not null
    where organization_id = ${owner} and reference = any(${references as Reference[]}::text[])
      and google_conversion_name is not null and not is_test
    order by created_at desc`.execute(db);
  return rows;
}
