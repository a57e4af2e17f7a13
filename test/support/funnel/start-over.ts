import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../../src/server/db/pool.ts";
import { readZoneRules } from "../../../src/server/lib/time/zone-rules.ts";
import { updateOrganization } from "../../../src/server/organizations/queries.ts";
import { saveZoneOffsets } from "../../../src/server/organizations/zone-offsets.ts";

/** As if the organization were in this zone, and nothing had ever been recorded for anyone. */
export async function startOver(db: Db, owner: OrganizationId, zone: string): Promise<void> {
  await updateOrganization(db, owner, { time_zone: zone });
  const rules = readZoneRules(zone);
  await saveZoneOffsets(db, rules);
  await db
    .updateTable("day_zones")
    .set({ zone, rules: rules.id, version: 1, spans_sealed_before: "1970-01-01" })
    .set({ building_version: null, building_rules: null, packed_from: null, packed_before: null })
    .where("organization_id", "=", owner)
    .execute();
  await sql`truncate funnel_keys, funnel_visits, funnel_days, funnel_key_days, funnel_key_spans, visit_packs`.execute(
    db,
  );
}
