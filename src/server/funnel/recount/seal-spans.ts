import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { localDay } from "../record/local-day.ts";
import { lockDayZone, updateDayZone } from "./day-zone.ts";
import { SHORTEST_SPAN, SPAN_LENGTHS, spanStart } from "./key-spans.ts";

/** Background task: seals the spans of every organization that has any to seal. A failure does not hold up the others. */
export async function sealOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  for (const organizationId of await listUnsealed(deps.db, now)) {
    if (signal.aborted) return;
    try {
      await sealSpans(deps.db, organizationId, now);
    } catch (error) {
      deps.log.error("stats.seal_failed", { organizationId, error });
    }
  }
}

/** Adds up spans that are over. Recording for this organization waits for it, once in eight days. */
export async function sealSpans(db: Db, owner: OrganizationId, now: Date): Promise<void> {
  await inOrganization(db, owner, async (transaction) => {
    const { version, rules, sealed_before: from } = await lockDayZone(transaction, owner);
    const to = await findOpenSpan(transaction, rules, now);
    if (from >= to) return;
    await addUpSpans(transaction, owner, { version, from, to });
    await updateDayZone(transaction, owner, { sealed_before: to });
  });
}

/** The first day of the span that is not over yet. */
export async function findOpenSpan(db: Db, rules: string, now: Date): Promise<string> {
  const today = localDay(sql`${rules}`, sql`${now}::timestamptz`);
  const { rows } = await sql<{ day: string }>`select ${spanStart(sql`today`, SHORTEST_SPAN)} as day
    from (select ${today} as today) local`.execute(db);
  const [row] = rows;
  assert(row, "a select without from gives one row");
  return row.day;
}

/** Spans of every length that end after `from` and by `to`; none of them has been sealed before. */
async function addUpSpans(
  db: Db,
  owner: OrganizationId,
  { version, from, to }: { version: number; from: string; to: string },
): Promise<void> {
  for (const [i, length] of SPAN_LENGTHS.entries()) {
    const part = SPAN_LENGTHS[i - 1];
    const [table, day] = part === undefined ? ["funnel_key_days", "day"] : ["funnel_key_spans", "start_day"];
    const isPart = part === undefined ? sql`` : sql`and span_days = ${sql.lit(part)}`;
    const start = (text: RawBuilder<unknown>) => spanStart(text, length);
    // In key order, so that rows that are read together are stored together.
    await sql`
      insert into funnel_key_spans (organization_id, version, widget_id, span_days, start_day, kind, key, views, bookings)
      select organization_id, version, widget_id, ${sql.lit(length)}, ${start(sql.ref(day))} as start, kind, key,
        sum(views), sum(bookings)
      from ${sql.table(table)}
      where organization_id = ${owner} and version = ${version} ${isPart}
        and ${sql.ref(day)} >= ${start(sql`${from}::date`)} and ${sql.ref(day)} < ${start(sql`${to}::date`)}
      group by organization_id, version, widget_id, start, kind, key
      order by organization_id, version, widget_id, start, kind, key`.execute(db);
  }
}

async function listUnsealed(db: Db, now: Date): Promise<OrganizationId[]> {
  const today = localDay(sql`day_zones.rules`, sql`${now}::timestamptz`);
  const { rows } = await sql<{ organization_id: OrganizationId }>`
    select organization_id from (select organization_id, sealed_before, ${today} as today from day_zones) local
    where sealed_before < ${spanStart(sql`today`, SHORTEST_SPAN)} order by organization_id`.execute(db);
  return rows.map((row) => row.organization_id);
}
