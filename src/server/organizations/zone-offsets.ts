import { sql } from "kysely";
import { toArrayText } from "../db/array-text.ts";
import type { Db } from "../db/pool.ts";
import { assert } from "../lib/assert.ts";
import { RecentMap } from "../lib/recent-map.ts";
import { findZoneRules, type ZoneRules } from "../lib/time/zone-rules.ts";

/**
 * Must be committed with, or before, the first row that names these rules. Rules with the same name are the same everywhere.
 */
export async function saveZoneOffsets(db: Db, { id, offsets }: ZoneRules): Promise<void> {
  await sql`
    insert into zone_offsets (rules, from_at, until_at, shift)
    select ${id}, from_at, until_at, make_interval(secs => seconds)
    from unnest(
      ${toArrayText(offsets.map(({ fromMs }) => toTimestamp(fromMs)))}::timestamptz[],
      ${toArrayText(offsets.map(({ untilMs }) => toTimestamp(untilMs)))}::timestamptz[],
      ${toArrayText(offsets.map(({ seconds }) => String(seconds)))}::float8[]
    ) as period (from_at, until_at, seconds)
    on conflict do nothing`.execute(db);
}

const RULES_KEPT = 100;
const known = new RecentMap<string, ZoneRules>(RULES_KEPT);

/** Nearly always this runtime knows the rules itself. Otherwise a newer or older one saved them. */
export async function readSavedRules(db: Db, id: string): Promise<ZoneRules> {
  const own = findZoneRules(id) ?? known.get(id);
  if (own) return own;
  const saved = await selectRules(db, id);
  known.set(id, saved);
  return saved;
}

async function selectRules(db: Db, id: string): Promise<ZoneRules> {
  const { rows } = await sql<ZoneRules["offsets"][number]>`
    select date_part('epoch', from_at) * 1000 as "fromMs", date_part('epoch', until_at) * 1000 as "untilMs",
      date_part('epoch', shift) as seconds
    from zone_offsets where rules = ${id} order by from_at`.execute(db);
  const [first, ...others] = rows;
  assert(first, "rules are saved before a row names them");
  return { id, offsets: [first, ...others] };
}

function toTimestamp(ms: number): string {
  if (ms === Number.NEGATIVE_INFINITY) return "-infinity";
  return ms === Number.POSITIVE_INFINITY ? "infinity" : new Date(ms).toISOString();
}
