import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { inOrganization } from "../../db/transactions.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { localDay } from "../record/local-day.ts";
import { lockDayZone, updateDayZone } from "./day-zone.ts";
import {
  ALL_WIDGETS,
  hasSpans,
  LONGEST_SPAN,
  SHORTEST_SPAN,
  SPAN_LENGTHS,
  shorterSpanOf,
  spanStart,
} from "./key-spans.ts";

/** Background task: seals the spans of every organization that has any to seal. A failure does not hold up the others. */
export async function sealOutdated(deps: Pick<Deps, "db" | "clock" | "log">, signal: AbortSignal): Promise<void> {
  const now = deps.clock.now();
  for (const organizationId of await listUnsealed(deps.db, now)) {
    if (signal.aborted) return;
    try {
      await sealSpans(deps.db, organizationId, now, signal);
    } catch (error) {
      deps.log.error("stats.seal_failed", { organizationId, error });
    }
  }
}

/** Adds up spans that are over. */
export async function sealSpans(db: Db, owner: OrganizationId, now: Date, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await sealSome(db, owner, now)));
}

/**
 * Adds up to the end of the next span of 60 days that has counters, and returns whether there is more to do. Recording for this
 * organization waits meanwhile: usually once every five days; after an upgrade, with years to add up, for one step at a time.
 */
async function sealSome(db: Db, owner: OrganizationId, now: Date): Promise<boolean> {
  return await inOrganization(db, owner, async (transaction) => {
    const { version, rules, spans_sealed_before: from } = await lockDayZone(transaction, owner);
    const open = await findOpenSpan(transaction, rules, now);
    if (from >= open) return false;
    const to = await findEnd(transaction, owner, { version, from, open });
    await addUpSpans(transaction, owner, { version, from, to });
    await updateDayZone(transaction, owner, { spans_sealed_before: to });
    return to < open;
  });
}

/** The end of the 60-day span with the next counters, or the start of the open span if that is earlier. */
async function findEnd(
  db: Db,
  owner: OrganizationId,
  { version, from, open }: { version: number; from: string; open: string },
): Promise<string> {
  const { rows } = await sql<{ day: string }>`
    select least(${spanStart(sql`min(day)`, LONGEST_SPAN)} + ${sql.lit(LONGEST_SPAN)}, ${open}::date) as day
    from funnel_key_days
    where organization_id = ${owner} and version = ${version} and widget_id = ${ALL_WIDGETS} and day >= ${from}::date`.execute(
    db,
  );
  const [row] = rows;
  assert(row, "min gives one row");
  return row.day;
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

type Days = { version: number; from: string; to: string };

/** Spans of every length that end after `from` and by `to`; none of them has been sealed before. */
async function addUpSpans(db: Db, owner: OrganizationId, days: Days): Promise<void> {
  for (const length of SPAN_LENGTHS) await addUpSpansOf(db, owner, { length, ...days });
}

/** Spans of 60 days are added up from those of 10 days, which must already exist. */
export async function addUpSpansOf(
  db: Db,
  owner: OrganizationId,
  { length, version, from, to }: Days & { length: (typeof SPAN_LENGTHS)[number] },
): Promise<void> {
  const shorter = shorterSpanOf(length);
  const [table, day] = shorter === null ? ["funnel_key_days", "day"] : ["funnel_key_spans", "start_day"];
  const isShorter = shorter === null ? sql`` : sql`and span_days = ${sql.lit(shorter)}`;
  const start = (text: RawBuilder<unknown>) => spanStart(text, length);
  // In key order, so that rows that are read together are stored together.
  await sql`
    insert into funnel_key_spans (organization_id, version, widget_id, span_days, start_day, kind, key, views, bookings)
    select organization_id, version, widget_id, ${sql.lit(length)}, ${start(sql.ref(day))} as start, kind, key,
      sum(views), sum(bookings)
    from ${sql.table(table)}
    where organization_id = ${owner} and version = ${version} and ${hasSpans(sql`widget_id`, length)} ${isShorter}
      and ${sql.ref(day)} >= ${start(sql`${from}::date`)} and ${sql.ref(day)} < ${start(sql`${to}::date`)}
    group by organization_id, version, widget_id, start, kind, key
    order by organization_id, version, widget_id, start, kind, key`.execute(db);
}

async function listUnsealed(db: Db, now: Date): Promise<OrganizationId[]> {
  const today = localDay(sql`day_zones.rules`, sql`${now}::timestamptz`);
  const { rows } = await sql<{ organization_id: OrganizationId }>`
    select organization_id from (select organization_id, spans_sealed_before, ${today} as today from day_zones) local
    where spans_sealed_before < ${spanStart(sql`today`, SHORTEST_SPAN)} order by organization_id`.execute(db);
  return rows.map((row) => row.organization_id);
}
