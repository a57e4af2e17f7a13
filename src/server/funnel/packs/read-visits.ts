import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { furthest } from "../record/counters.ts";
import { KEY_KINDS } from "../record/key-id.ts";
import { PACK_VISITS_MAX, toPack, type VisitPack, type VisitRow } from "./visit-pack.ts";

type VisitRange = {
  /** When the visits started; `untilMs` is the first instant after. */
  fromMs: number;
  untilMs: number;
  /** Only visits that booked, or failed to, at this instant or later. */
  convertedSinceMs?: number;
  /** A further condition on funnel_visits. */
  condition?: RawBuilder<unknown> | undefined;
};

type Row = VisitRow & { visit_id: string; converted_at: Date | null };

/** A pack, and when the last one of its visits booked or failed to; null if none did. */
type ReadPack = { pack: VisitPack; lastAt: Date | null };

/** Packs visits straight from their rows, in the order of their start; each pack has visits of one UTC day. */
export async function* readVisits(db: Db, owner: OrganizationId, range: VisitRange): AsyncGenerator<ReadPack> {
  let after: Row | undefined;
  do {
    const rows = await selectVisits(db, owner, { range, after });
    for (const [dayMs, ofDay] of Map.groupBy(rows, ({ started_ms }) => toDayMs(started_ms)))
      yield { pack: toPack(dayMs, ofDay), lastAt: findLast(ofDay) };
    after = rows.length === PACK_VISITS_MAX ? rows.at(-1) : undefined;
  } while (after);
}

/** The first instant of the UTC day. */
export function toDayMs(instantMs: number): number {
  return Math.floor(instantMs / DAY_MS) * DAY_MS;
}

function findLast(rows: readonly Row[]): Date | null {
  return rows.reduce<Date | null>((last, { converted_at: at }) => (at && (!last || at > last) ? at : last), null);
}

/**
 * The next rows after the given one, served by funnel_visits_by_start. Bounds are literals in the text, so that PostgreSQL
 * plans for this range: visits that converted later than they started may be found faster by funnel_visits_by_conversion.
 */
async function selectVisits(
  db: Db,
  owner: OrganizationId,
  { range, after }: { range: VisitRange; after: Row | undefined },
): Promise<Row[]> {
  const { convertedSinceMs, condition } = range;
  const isAfter = after
    ? sql`and (started_at, widget_id, visit_id) > (${toInstant(after.started_ms)}, ${after.widget_id}, ${after.visit_id})`
    : sql``;
  const { rows } = await sql<Row>`
    select widget_id, visit_id, round(date_part('epoch', started_at) * 1000)::bigint as started_ms,
      ${furthest} * 2 + (no_availability_at is not null)::integer as stage,
      ${sql.join(KEY_KINDS.map((kind) => sql.ref(kind)))}, converted_at, bookings, failures
    from funnel_visits
    where organization_id = ${owner} and started_at >= ${toInstant(after?.started_ms ?? range.fromMs)}
      and started_at < ${toInstant(range.untilMs)} ${isAfter}
      ${convertedSinceMs === undefined ? sql`` : sql`and converted_at >= ${toInstant(convertedSinceMs)}`}
      ${condition ? sql`and ${condition}` : sql``}
    order by started_at, widget_id, visit_id limit ${sql.lit(PACK_VISITS_MAX)}`.execute(db);
  return rows;
}

function toInstant(ms: number): RawBuilder<unknown> {
  return sql`${sql.lit(new Date(ms).toISOString())}::timestamptz`;
}
