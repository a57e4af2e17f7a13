import { CompiledQuery, sql } from "kysely";
import { STEPS } from "#contract/steps.ts";
import { toArrayText } from "../../db/array-text.ts";
import type { Db } from "../../db/pool.ts";
import { addDays, addKeys, addSpans, countDays, counterSets, countKeys } from "./counters.ts";
import { mergeTouches, type VisitPart } from "./merge-touches.ts";
import type { Touch } from "./touch.ts";

/**
 * Records touches of any number of organizations in one statement: the visits they belong to, their events,
 * and the counters, by exactly what changed. All of it is committed, or none.
 *
 * What it relies on:
 * - A visit's row is a union of everything that was ever recorded for it, so the same touch again, a late one, or one that
 *   another process records at the same moment leads to the same row. `old` and `new` are the row as it really was and is,
 *   under its lock; the counters get the contribution of `new` less that of `old`, whatever happened in between.
 * - The organization's day_zones row is share-locked first (`zones` feeds everything else). A rebuild takes it exclusively
 *   for each of its steps, so a visit is either counted by the rebuild or, being behind its mark, by us, never by both.
 * - Rows are locked in the order of their keys, so two such statements wait for each other and never for good.
 * - Paused widgets are left out here, in the same instant; the ids of those that were recorded are returned.
 */
export async function recordTouches(
  db: Db,
  touches: readonly Touch[],
  scope: "active" | "every",
): Promise<Set<string>> {
  // Putting the text together anew would take a third of a millisecond a batch.
  text ??= statement.compile(db).sql;
  const query = CompiledQuery.raw(text, toParameters(touches, scope));
  const { rows } = await db.executeQuery<{ widget_id: string }>(query);
  return new Set(rows.map((row) => row.widget_id));
}

/** In the order of their numbers in the statement. */
function toParameters(touches: readonly Touch[], scope: "active" | "every"): unknown[] {
  const visits = mergeTouches(touches);
  const column = (read: (touch: Touch) => string | null) => toArrayText(touches.map(read));
  const visitColumn = (read: (visit: VisitPart) => string | null) => toArrayText(visits.map(read));
  return [
    column((touch) => touch.widgetId),
    column((touch) => touch.visitId),
    column((touch) => touch.at.toISOString()),
    column((touch) => String(touch.steps)),
    column((touch) => touch.page),
    column((touch) => touch.source),
    column((touch) => touch.medium),
    column((touch) => touch.campaign),
    column((touch) => touch.channel),
    column((touch) => touch.device),
    column((touch) => touch.country),
    column((touch) => touch.conversion?.key ?? ""),
    column((touch) => touch.conversion?.startAt?.toISOString() ?? null),
    scope === "every",
    visitColumn((visit) => String(visit.startTouch + 1)),
    visitColumn((visit) => visit.lastAt.toISOString()),
    visitColumn((visit) => String(visit.steps)),
    visitColumn((visit) => visit.conversions && JSON.stringify(visit.conversions)),
    toArrayText(STEPS),
  ];
}

let text: string | null = null;

const statement = sql`-- prepared: record_touches
    with touches as (
      select widgets.organization_id, touch.*
      from unnest(
        $1::text[], $2::uuid[], $3::timestamptz[], $4::integer[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[], $13::timestamptz[]
      ) with ordinality as touch (widget_id, visit_id, at, steps, page, source, medium, campaign, channel, device, country,
        conversion_key, start_at, number)
      join widgets on widgets.id = touch.widget_id
      where widgets.status = 'active' or $14
    ), zones as materialized (
      select organization_id, zone, version, sealed_before, building_zone, building_version, building_sealed_before,
        building_widget_id, building_visit_id
      from day_zones where organization_id in (select organization_id from touches)
      order by organization_id for share
    ), given as (
      select touches.*, part.last_at, part.all_steps, part.conversions
      from unnest(
        $15::integer[], $16::timestamptz[], $17::integer[], $18::jsonb[]
      ) as part (number, last_at, all_steps, conversions)
      join touches using (number)
      join zones using (organization_id)
    ), united as (
      insert into funnel_visits as visit (organization_id, widget_id, visit_id, started_at, last_at, steps, page, source,
        medium, campaign, channel, device, country, conversions)
      select organization_id, widget_id, visit_id, at, last_at, all_steps, page, source, medium, campaign, channel, device,
        country, conversions
      from given order by organization_id, widget_id, visit_id
      on conflict (organization_id, widget_id, visit_id) do update set
        (started_at, page, source, medium, campaign, channel, device, country) = (
          select started_at, page, source, medium, campaign, channel, device, country
          from (values
            (visit.started_at, visit.source, visit.medium, visit.campaign, visit.channel, visit.page, visit.device,
              visit.country),
            (excluded.started_at, excluded.source, excluded.medium, excluded.campaign, excluded.channel, excluded.page,
              excluded.device, excluded.country)
          ) starts (started_at, source, medium, campaign, channel, page, device, country)
          order by started_at, source, medium, campaign, channel, page, device, country limit 1
        ),
        last_at = greatest(visit.last_at, excluded.last_at),
        steps = visit.steps | excluded.steps,
        conversions = unite_conversions(visit.conversions, excluded.conversions)
      where visit.steps | excluded.steps <> visit.steps
        or excluded.started_at <= visit.started_at or excluded.last_at > visit.last_at
        or excluded.conversions is not null
      returning old.started_at as old_started_at, old.steps as old_steps, old.source as old_source,
        old.medium as old_medium, old.campaign as old_campaign, old.channel as old_channel,
        old.conversions as old_conversions,
        new.organization_id, new.widget_id, new.visit_id, new.started_at, new.steps, new.source, new.medium, new.campaign,
        new.channel, new.conversions,
        old.steps is null or (old.started_at, old.source, old.medium, old.campaign, old.channel)
            <> (new.started_at, new.source, new.medium, new.campaign, new.channel)
          or old.conversions is distinct from new.conversions as moves_keys
    ), logged as (
      insert into funnel_events (organization_id, widget_id, visit_id, at, step, conversion_key, page, source, medium,
        campaign, channel, device, country, start_at, variant)
      select organization_id, widget_id, visit_id, at, step, conversion_key, page, source, medium, campaign, channel, device,
        country, start_at,
        hashtextextended(concat_ws(E'\\n', page, source, medium, campaign, channel, device, country,
          extract(epoch from start_at)), 0)
      from touches cross join unnest($19::text[]) with ordinality as names (step, position)
      where steps >> (position - 1)::integer & 1 = 1
      on conflict do nothing
    ), sets as (${counterSets}
    ), changed as materialized (
      select united.*, version, zone, sealed_before
      from united join sets using (organization_id)
      where mark_widget_id is null or (widget_id, visit_id) <= (mark_widget_id, mark_visit_id)
    ), sides as (
      select organization_id, version, zone, sealed_before, widget_id, 1 as sign, started_at, steps, source, medium,
        campaign, channel, conversions, moves_keys
      from changed
      union all
      select organization_id, version, zone, sealed_before, widget_id, -1, old_started_at, old_steps, old_source, old_medium,
        old_campaign, old_channel, old_conversions, moves_keys
      from changed where old_steps is not null
    ), counted_days as (${countDays})
    , counted_keys as (${countKeys})
    , added_days as (${addDays})
    , added_keys as (${addKeys})
    , added_spans as (${addSpans})
    select distinct widget_id from touches`;
