import { sql } from "kysely";
import { STEPS } from "#contract/steps.ts";
import type { Db } from "../db/pool.ts";
import { addDays, addKeys, addMonths, countDays, countKeys } from "./counters.ts";
import { mergeTouches } from "./merge-touches.ts";
import type { Touch } from "./touch.ts";

/**
 * Records touches of any number of organizations in one statement: the visits they belong to, the events that changed those
 * visits, and the counters, by exactly what changed. All of it is committed, or none.
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
  const visits = mergeTouches(touches);
  const column = <K extends keyof Touch>(name: K) => touches.map((touch) => touch[name]);
  const { rows } = await sql<{ widget_id: string }>`-- prepared: record_touches
    with touches as (
      select widgets.organization_id, touch.*
      from unnest(
        ${column("widgetId")}::text[], ${column("visitId")}::uuid[], ${column("at")}::timestamptz[],
        ${column("steps")}::integer[], ${column("page")}::text[], ${column("source")}::text[],
        ${column("medium")}::text[], ${column("campaign")}::text[], ${column("channel")}::text[],
        ${column("device")}::text[], ${column("country")}::text[],
        ${touches.map((touch) => touch.conversion?.key ?? "")}::text[],
        ${touches.map((touch) => touch.conversion?.startAt ?? null)}::timestamptz[]
      ) with ordinality as touch (widget_id, visit_id, at, steps, page, source, medium, campaign, channel, device, country,
        conversion_key, start_at, number)
      join widgets on widgets.id = touch.widget_id
      where widgets.status = 'active' or ${scope === "every"}
    ), zones as materialized (
      select organization_id, zone, version, sealed_before, building_zone, building_version, building_sealed_before,
        building_widget_id, building_visit_id
      from day_zones where organization_id in (select organization_id from touches)
      order by organization_id for share
    ), given as (
      select touches.*, part.last_at, part.all_steps, part.conversions
      from unnest(
        ${visits.map((visit) => visit.startTouch + 1)}::integer[], ${visits.map((visit) => visit.lastAt)}::timestamptz[],
        ${visits.map((visit) => visit.steps)}::integer[],
        ${visits.map((visit) => visit.conversions && JSON.stringify(visit.conversions))}::jsonb[]
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
        or excluded.started_at <= visit.started_at
        or excluded.conversions is not null
      returning old.started_at as old_started_at, old.steps as old_steps, old.source as old_source,
        old.medium as old_medium, old.campaign as old_campaign, old.channel as old_channel,
        old.conversions as old_conversions,
        new.organization_id, new.widget_id, new.visit_id, new.started_at, new.steps, new.source, new.medium, new.campaign,
        new.channel, new.conversions
    ), logged as (
      insert into funnel_events (organization_id, widget_id, visit_id, at, step, conversion_key, page, source, medium,
        campaign, channel, device, country, start_at, variant)
      select organization_id, widget_id, visit_id, at, step, conversion_key, page, source, medium, campaign, channel, device,
        country, start_at,
        hashtextextended(concat_ws(E'\\n', page, source, medium, campaign, channel, device, country,
          extract(epoch from start_at)), 0)
      from touches cross join unnest(${STEPS as unknown as string[]}::text[]) with ordinality as names (step, position)
      where steps >> (position - 1)::integer & 1 = 1
      on conflict do nothing
    ), sets as (
      select organization_id, version, zone, sealed_before, null::text as mark_widget_id, null::uuid as mark_visit_id
      from zones
      union all
      select organization_id, building_version, building_zone, building_sealed_before, building_widget_id, building_visit_id
      from zones where building_version is not null
    ), sides as (
      select organization_id, version, zone, sealed_before, widget_id, side.sign, side.started_at, side.steps, side.source,
        side.medium, side.campaign, side.channel, side.conversions,
        old_steps is null or (old_started_at, old_source, old_medium, old_campaign, old_channel)
            <> (united.started_at, united.source, united.medium, united.campaign, united.channel)
          or old_conversions is distinct from united.conversions as moves_keys
      from united
      join sets using (organization_id)
      cross join lateral (values
        (1, united.started_at, united.steps, united.source, united.medium, united.campaign, united.channel,
          united.conversions),
        (-1, old_started_at, old_steps, old_source, old_medium, old_campaign, old_channel, old_conversions)
      ) as side (sign, started_at, steps, source, medium, campaign, channel, conversions)
      where side.steps is not null
        and (mark_widget_id is null or (widget_id, visit_id) <= (mark_widget_id, mark_visit_id))
    ), counted_days as (${countDays})
    , counted_keys as (${countKeys})
    , added_days as (${addDays})
    , added_keys as (${addKeys})
    , added_months as (${addMonths})
    select distinct widget_id from touches`.execute(db);
  return new Set(rows.map((row) => row.widget_id));
}
