import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { updateProgress } from "../../../src/server/analytics/packs/pack-queries.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { updateOrganization } from "../../../src/server/organizations/queries.ts";

/** As if the organization were in this zone, and nothing had ever been recorded for anyone. */
export async function startOver(db: Db, owner: OrganizationId, zone: string): Promise<void> {
  await updateOrganization(db, owner, { time_zone: zone });
  await updateProgress(db, owner, { packed_before: null });
  await sql`truncate funnel_keys, funnel_visits, visit_days, visit_packs, visit_totals`.execute(db);
}
