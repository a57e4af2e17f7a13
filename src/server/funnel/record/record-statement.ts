import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { toArrayText } from "../../db/array-text.ts";
import { PLAIN_HOME } from "../../db/engine.ts";
import { outdateDays, utcDay, utcStart } from "../packs/pack-queries.ts";
import { CAPPED_KINDS, OTHER_IDS } from "./capped-keys.ts";
import { addToDays, addToKeyDays, addToSpans, changes, SIDE_COLUMNS } from "./counters.ts";
import { KEY_KINDS } from "./key-id.ts";
import { selectPeriod } from "./local-day.ts";
import { STEP_COLUMNS, type VisitPart } from "./merge-touches.ts";

// One statement records touches of any number of organizations: it merges the visits with the stored ones, adds new keys,
// changes the counters by exactly the difference, and outdates packs. Everything is committed, or nothing. What it relies on:
// - A visit's row is a union of everything ever recorded for it, so a touch that is repeated, late, or recorded simultaneously
//   by another process gives the same row, and one that adds nothing writes nothing.
// - `old` and `new` are the row before and after, under its lock. Counters get the contribution of `new` minus that of `old`.
// - The organization's day_zones row is share-locked first (`zones` feeds everything else). A process that changes the counting
//   locks it exclusively, so this whole statement happens before or after the change.
// - Rows are locked in key order, table by table, so two such statements never deadlock.

/** The columns of funnel_visits, and their values for a visit in the batch. */
export const VISIT_COLUMNS: readonly { name: string; type: string; read: (visit: VisitPart) => string | null }[] = [
  { name: "organization_id", type: "text", read: ({ start }) => start.organizationId },
  { name: "widget_id", type: "text", read: ({ start }) => start.widgetId },
  { name: "visit_id", type: "uuid", read: ({ start }) => start.visitId },
  { name: "started_at", type: "timestamptz", read: ({ start }) => toIsoText(start.at) },
  ...KEY_KINDS.map((kind) => ({ name: kind, type: "bigint", read: ({ keys }: VisitPart) => keys[kind].digits })),
  ...STEP_COLUMNS.map(({ column }, i) => ({
    name: column,
    type: "timestamptz",
    read: ({ stepTimes }: VisitPart) => {
      const at = stepTimes[i] ?? null;
      return at && toIsoText(at);
    },
  })),
  { name: "converted_at", type: "timestamptz", read: ({ convertedAt }) => convertedAt?.toISOString() ?? null },
  { name: "bookings", type: "jsonb", read: ({ bookings }) => bookings && JSON.stringify(bookings) },
  { name: "failures", type: "jsonb", read: ({ failures }) => failures && JSON.stringify(failures) },
];

/** Indexes of visits in the batch, and how many steps are new. */
export type ResultRow = { paused: number[]; over_budget: number[]; recorded_before: number[]; new_steps: number };

export type Batch = {
  visits: readonly VisitPart[];
  includePaused: boolean;
  latest: Date;
  now: Date;
  newKeys: readonly NewKey[];
};
/** A key, and the first visit in the batch that has it. */
export type NewKey = { organizationId: OrganizationId; id: number; kind: number; key: string; visit: number };

/** All parameters of the statement, in the order $1, $2, … */
export const PARAMETERS: readonly { name: string; type: string; read: (batch: Batch) => unknown }[] = [
  ...VISIT_COLUMNS.map(({ name, type, read }) => ({
    name,
    type: `${type}[]`,
    read: ({ visits }: Batch) => toArrayText(visits.map(read)),
  })),
  {
    name: "may_start",
    type: "boolean[]",
    read: ({ visits }) => toArrayText(visits.map(({ mayStart }) => (mayStart ? "t" : "f"))),
  },
  { name: "include_paused", type: "boolean", read: ({ includePaused }) => includePaused },
  { name: "latest", type: "timestamptz", read: ({ latest }) => latest.toISOString() },
  { name: "new_keys", type: "jsonb", read: ({ newKeys }) => JSON.stringify(newKeys) },
  { name: "today", type: "date", read: ({ now }) => now.toISOString() },
];

function parameter(name: string): RawBuilder<unknown> {
  const index = PARAMETERS.findIndex((each) => each.name === name);
  return sql.raw(`$${index + 1}::${PARAMETERS[index]?.type}`);
}

/** Most instants in a batch are the same few. */
function toIsoText(date: Date): string {
  const ms = date.getTime();
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = date.toISOString();
  }
  return lastText;
}

let lastMs = Number.NaN;
let lastText = "";

const columns = sql.join(VISIT_COLUMNS.map(({ name }) => sql.ref(name)));
const startColumns = ["started_at", ...KEY_KINDS];
const steps = STEP_COLUMNS.map(({ column }) => column);

function of(row: "old" | "new" | "visit" | "excluded", names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(`${row}.${name}`)));
}

function countSteps(row: "old" | "new"): RawBuilder<unknown> {
  const countKeys = (map: string) => sql`case when ${sql.ref(`${row}.${map}`)} is not null
    then (select count(*) from jsonb_object_keys(${sql.ref(`${row}.${map}`)})) else 0 end`;
  return sql`num_nonnulls(${of(row, steps)}) + ${countKeys("bookings")} + ${countKeys("failures")}`;
}

/** Whether the batch adds anything to the visit's row. */
const addsSomething = sql`(${of("excluded", startColumns)}) < (${of("visit", startColumns)})
  or ${sql.join(
    steps.map(
      (name) => sql`least(${of("visit", [name])}, ${of("excluded", [name])}) is distinct from ${of("visit", [name])}`,
    ),
    sql` or `,
  )}
  or excluded.bookings is not null or excluded.failures is not null`;

/** The start's value, except that a visit with a booking is never "(other)" when it is known better: bookings bring their own keys. */
function toUnitedStart(name: string): RawBuilder<unknown> {
  const kind = CAPPED_KINDS.find((each) => each === name);
  if (kind === undefined) return sql.ref(name);
  const other = sql.lit(OTHER_IDS[kind]);
  return sql`case when ${sql.ref(name)} = ${other} and num_nonnulls(visit.bookings, excluded.bookings) > 0
            then coalesce(nullif(${of("visit", [name])}, ${other}), ${of("excluded", [name])}) else ${sql.ref(name)} end`;
}

/** Merges visits with the stored ones. `source` selects what is inserted. Returns the visits that changed, or all of them. */
export const unite = (source: RawBuilder<unknown>, { returnsAll = false } = {}) => sql`
      insert into funnel_visits as visit (${columns})
      ${source}
      on conflict (organization_id, widget_id, visit_id) do update set
        (${sql.join(startColumns.map((name) => sql.ref(name)))}) = (
          select ${sql.join(startColumns.map(toUnitedStart))}
          from (values (${of("visit", startColumns)}), (${of("excluded", startColumns)}))
            starts (${sql.join(startColumns.map((name) => sql.ref(name)))})
          order by ${sql.join(startColumns.map((name) => sql.ref(name)))} limit 1
        ),
        ${sql.join(steps.map((name) => sql`${sql.ref(name)} = least(${of("visit", [name])}, ${of("excluded", [name])})`))},
        converted_at = greatest(visit.converted_at, excluded.converted_at),
        bookings = unite_conversions(visit.bookings, excluded.bookings),
        failures = unite_conversions(visit.failures, excluded.failures)
      where ${returnsAll ? sql`true` : addsSomething}
      returning new.organization_id, new.widget_id, new.visit_id, ${of("new", SIDE_COLUMNS)},
        ${sql.join(SIDE_COLUMNS.map((name) => sql`${sql.ref(`old.${name}`)} as ${sql.ref(`old_${name}`)}`))},
        old.started_at is null as is_new,
        old.started_at is null or (${of("old", startColumns)}) <> (${of("new", startColumns)})
          or old.bookings is distinct from new.bookings as moves_keys,
        ${countSteps("new")} - (${countSteps("old")}) as new_steps,
        new.converted_at is distinct from old.converted_at as moves_end`;

/** The common table expressions `sets` and `sides`, from `zones` and `united`. */
export const toSides = (latest: RawBuilder<unknown>) => sql`
    sets as (
      select counted.*, period_from, period_until, shift
      from (
        select organization_id, version, rules as day_rules, sealed_before from zones
        union all
        select organization_id, building_version, building_rules, date '1970-01-01'
        from zones where building_version is not null
      ) counted
      cross join lateral (${selectPeriod(sql`day_rules`, latest)}) period
    ), sides as materialized (
      select sets.*, widget_id, 1 as sign, moves_keys, ${sql.join(SIDE_COLUMNS.map((name) => sql.ref(name)))}
      from united join sets using (organization_id)
      union all
      select sets.*, widget_id, -1, moves_keys, ${sql.join(SIDE_COLUMNS.map((name) => sql.ref(`old_${name}`)))}
      from united join sets using (organization_id) where not is_new`;

/** The packed days on which visits start, or did before. A visit never starts later than before. */
const touchedDays = sql`
      select distinct organization_id, ${utcDay(sql`start`)} as day
      from united join zones using (organization_id) cross join lateral (values (started_at), (old_started_at)) moved (start)
      where started_at < packed_before and start >= packed_from and start < packed_before`;

export const statement = sql`-- prepared: record_touches
    with sent as materialized (
      select visit.*, widgets.id is not null and (widgets.status = 'active' or ${parameter("include_paused")}) as is_open
      from unnest(${sql.join([...VISIT_COLUMNS.map(({ name }) => parameter(name)), parameter("may_start")])})
        with ordinality as visit (${columns}, may_start, number)
      left join widgets on widgets.organization_id = visit.organization_id and widgets.id = visit.widget_id
    ), zones as materialized (
      select organization_id, version, rules, spans_sealed_before as sealed_before, building_version, building_rules,
        ${utcStart(sql`packed_from`)} as packed_from, ${utcStart(sql`packed_before`)} as packed_before
      from day_zones where organization_id in (select organization_id from sent where is_open)
      order by organization_id for share
    ), admitted as materialized (
      select number from sent join zones using (organization_id)
      where is_open and (may_start or exists (
        select from funnel_visits stored where stored.organization_id = sent.organization_id
          and stored.widget_id = sent.widget_id and stored.visit_id = sent.visit_id
      ))
    ), united as (
      ${unite(sql`
        select ${columns} from sent where number = any(array(select number from admitted))
        order by organization_id, widget_id, visit_id`)}
    ), named as (
      insert into funnel_keys as stored (organization_id, id, kind, key, used_on)
      select named."organizationId", named.id, named.kind, named.key, ${parameter("today")}
      from jsonb_to_recordset(${parameter("new_keys")}) as named ("organizationId" text, id bigint, kind smallint, key text)
      where (named."organizationId", named.id) in (
        select organization_id, id from united
        cross join lateral (values ${sql.join(KEY_KINDS.map((kind) => sql`(${sql.ref(kind)})`))}) used (id)
      )
      order by named."organizationId" collate "C", named.id
      on conflict (organization_id, id) do update set used_on = excluded.used_on where stored.used_on < excluded.used_on
    ), ${toSides(parameter("latest"))}
    ), ${changes}
    , added_days as (${addToDays(PLAIN_HOME)})
    , added_keys as (${addToKeyDays(PLAIN_HOME)})
    , added_spans as (${addToSpans(PLAIN_HOME)})
    , outdated_packs as (${outdateDays(touchedDays)})
    -- "not in" uses a hash table; an anti join would be planned for ten rows, as nested loops.
    select
      array(select (number - 1)::integer from sent where not is_open) as paused,
      array(select (number - 1)::integer from sent where is_open and not may_start
        and number not in (select number from admitted)) as over_budget,
      array(select (number - 1)::integer from sent where is_open
        and (widget_id, visit_id) not in (select widget_id, visit_id from united where is_new)) as recorded_before,
      (select coalesce(sum(new_steps), 0)::integer from united) as new_steps`;
