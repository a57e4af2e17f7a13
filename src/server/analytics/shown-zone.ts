import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { assert } from "../lib/assert.ts";
import { parseTimeZone } from "../lib/time/calendar.ts";
import { readZoneRules, type ZoneRules } from "../lib/time/zone-rules.ts";
import { readSavedRules } from "../organizations/zone-offsets.ts";

// Reports are in the organization's time zone from the moment it is changed. Counters are of one zone, and recounting them takes
// up to minutes. Until they are of the new zone, reports come from the visits, whose instants belong to no zone.

type ShownZone = { zone: string; rules: ZoneRules };

type ZoneRow = { time_zone: string | null; counted_zone: string; counted_rules: string };

/** The zone of the counters if the runtime doesn't know the organization's. */
export async function findShownZone(db: Db, owner: OrganizationId): Promise<ShownZone> {
  const { rows } = await sql<ZoneRow>`-- prepared: find_shown_zone
    select time_zone, zone as counted_zone, rules as counted_rules
    from day_zones join organizations on organizations.id = day_zones.organization_id
    where day_zones.organization_id = ${owner}`.execute(db);
  const [row] = rows;
  assert(row, "an organization has a row in day_zones");
  const zone = row.time_zone ?? "UTC";
  if (zone !== row.counted_zone && parseTimeZone(zone) !== null) return { zone, rules: readZoneRules(zone) };
  // Counters and visits must give the same days, also if a process with a newer or older runtime did the counting.
  return { zone: row.counted_zone, rules: await readSavedRules(db, row.counted_rules) };
}
