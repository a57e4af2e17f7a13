import type { OrganizationId } from "#contract/ids.ts";
import { readAtHome } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { parseTimeZone } from "../../lib/time/calendar.ts";
import { readZoneRules, type ZoneRules } from "../../lib/time/zone-rules.ts";

/** The organization's time zone; UTC if none is set, or if this runtime doesn't know it. */
export async function findShownZone(db: Db, owner: OrganizationId): Promise<{ zone: string; rules: ZoneRules }> {
  const { time_zone } = await readAtHome(db, owner, (home) =>
    home.selectFrom("organizations").select("time_zone").where("id", "=", owner).executeTakeFirstOrThrow(),
  );
  const zone = parseTimeZone(time_zone ?? "UTC") ?? "UTC";
  return { zone, rules: readZoneRules(zone) };
}
