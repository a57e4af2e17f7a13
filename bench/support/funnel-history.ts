import { type RawBuilder, sql } from "kysely";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db, Pool } from "../../src/server/db/pool.ts";
import { rebuildStats } from "../../src/server/funnel/recount/rebuild.ts";
import { systemClock } from "../../src/server/lib/clock.ts";
import { makeKey, makeOrganization, makeWidget } from "../../test/support/builders.ts";

// Two years of an organization's funnel events, put straight into their table; the counters are then made from them as
// `stats rebuild` does.

export const HISTORY_DAYS = 730;
export const WIDGETS = 20;
/** Distinct source / medium pairs on every day, and as many campaigns; each month some go and others come. */
export const KEYS_PER_DAY = 200;
const NEW_KEYS_PER_MONTH = 20;
/** Each visit takes one to five steps. */
const EVENTS_PER_VISIT = 3;
const VISITS_PER_INSERT = 100_000;
/** As many at once as fit in memory: nobody else is served meanwhile. */
const CHUNK_VISITS = 100_000;

export type History = { owner: OrganizationId; widgetId: WidgetId; key: string; events: number; rebuildMs: number };

export async function makeHistory(db: Db, pool: Pool, events: number): Promise<History> {
  const owner = await makeOrganization(db, { timeZone: "Europe/Berlin" });
  const widgets: WidgetId[] = [];
  for (let n = 0; n < WIDGETS; n++) widgets.push(await makeWidget(db, owner));
  const { key } = await makeKey(db, owner);
  const visits = Math.round(events / EVENTS_PER_VISIT);
  const now = systemClock.now();
  for (let first = 0; first < visits; first += VISITS_PER_INSERT) {
    const last = Math.min(first + VISITS_PER_INSERT, visits) - 1;
    await insertEvents(owner, { widgets, visits, first, last, now }).execute(db);
  }
  await pool.query("vacuum analyze funnel_events");
  const startedAt = performance.now();
  await rebuildStats({ db, clock: systemClock }, owner, { chunkVisits: CHUNK_VISITS });
  const rebuildMs = performance.now() - startedAt;
  return { owner, widgetId: widgets[0] as WidgetId, key, events, rebuildMs };
}

/** Visit n of all comes n / visits of the way through the two years; its number decides its widget, class and steps. */
function insertEvents(
  owner: OrganizationId,
  about: { widgets: WidgetId[]; visits: number; first: number; last: number; now: Date },
): RawBuilder<unknown> {
  return sql`
    insert into funnel_events (organization_id, widget_id, visit_id, at, step, conversion_key, page, source, medium, campaign,
      channel, device, country, start_at, variant)
    select ${owner}, (${about.widgets}::text[])[1 + (n + n / ${KEYS_PER_DAY}) % ${WIDGETS}], visit_id,
      start_at + position * interval '20 seconds', step,
      case when step = 'booking_completed' then n::text else '' end, 'https://lindenhof.example/book',
      'source-' || class, case class % 4 when 0 then 'cpc' when 1 then 'email' when 2 then 'organic' else 'referral' end,
      'campaign-' || class, 'Channel ' || class % 15, 'mobile', 'DE',
      case when step = 'booking_completed' then start_at + interval '4 days' end, 0
    from generate_series(${about.first}::integer, ${about.last}::integer) n
    cross join lateral (
      select gen_random_uuid() as visit_id,
        ${about.now}::timestamptz - (${about.visits} - n) * interval '1 day' * ${HISTORY_DAYS} / ${about.visits} as start_at,
        n % ${KEYS_PER_DAY} + ${NEW_KEYS_PER_MONTH} * (n * 24::bigint / ${about.visits})::integer as class
    ) visit
    cross join lateral unnest(array['widget_viewed', 'service_selected', 'date_selected', 'slot_selected', 'booking_completed'])
      with ordinality as steps (step, position)
    where position <= 1 + (n / 7) % 5`;
}
