import { CompiledQuery, type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { toArrayText } from "../../db/array-text.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import { addToDays, addToKeyDays, addToSpans, changes, SIDE_COLUMNS } from "./counters.ts";
import { KEY_KINDS, toKey, toKindNumber } from "./key-id.ts";
import type { KnownKeys } from "./known-keys.ts";
import { selectPeriod } from "./local-day.ts";
import { mergeTouches, STEP_COLUMNS, type VisitPart } from "./merge-touches.ts";
import type { Touch } from "./touch.ts";

// One statement records touches of any number of organizations: it merges the visits with the stored ones, adds new keys, and
// changes the counters by exactly the difference. Everything is committed, or nothing. What it relies on:
// - A visit's row is a union of everything ever recorded for it, so a touch that is repeated, late, or recorded simultaneously
//   by another process gives the same row, and one that adds nothing writes nothing.
// - `old` and `new` are the row before and after, under its lock. Counters get the contribution of `new` minus that of `old`.
// - The organization's day_zones row is share-locked first (`zones` feeds everything else). A process that changes the counting
//   locks it exclusively, so this whole statement happens before or after the change.
// - Rows are locked in key order, table by table, so two such statements never deadlock.

type RecordOptions = {
  /** Touches of paused widgets count too. */
  includePaused?: boolean;
  /** Required for touches in the past. */
  now?: Date;
  /** Avoids sending keys that are already stored. Use it only outside a transaction: what it learns must be committed. */
  knownKeys?: KnownKeys;
};

type Recorded = {
  /** One per touch. `paused` includes widgets that do not exist. */
  outcomes: ("recorded" | "paused" | "over_budget")[];
  /** For each touch, whether its visit was already recorded. */
  wasKnown: boolean[];
  /** Steps, bookings and failed attempts that were not recorded before. */
  newSteps: number;
};

/** Indexes of visits in the batch, and how many steps are new. */
type ResultRow = { paused: number[]; over_budget: number[]; recorded_before: number[]; new_steps: number };

export async function recordTouches(
  db: Db,
  touches: readonly Touch[],
  { includePaused = false, knownKeys, ...options }: RecordOptions = {},
): Promise<Recorded> {
  const { visits, visitOfTouch } = mergeTouches(touches);
  const latest = new Date(Math.max(...touches.map((touch) => touch.at.getTime())));
  const now = options.now ?? latest;
  const newKeys = listNewKeys(visits, knownKeys, now);
  const values = PARAMETERS.map(({ read }) => read({ visits, includePaused, latest, now, newKeys }));
  const { rows } = await db.executeQuery<ResultRow>(CompiledQuery.raw(toStatementText(db), values));
  const [row] = rows;
  assert(row, "a select of arrays gives one row");
  const paused = new Set(row.paused);
  const overBudget = new Set(row.over_budget);
  const recordedBefore = new Set(row.recorded_before);
  // A key was stored only if its visit was written.
  for (const { organizationId, id, visit } of newKeys)
    if (!paused.has(visit) && !overBudget.has(visit) && !recordedBefore.has(visit))
      knownKeys?.add(organizationId, id, now);
  return {
    outcomes: visitOfTouch.map((visit) =>
      paused.has(visit) ? "paused" : overBudget.has(visit) ? "over_budget" : "recorded",
    ),
    wasKnown: visitOfTouch.map((visit) => recordedBefore.has(visit)),
    newSteps: row.new_steps,
  };
}

/** The columns of funnel_visits, and their values for a visit in the batch. */
const VISIT_COLUMNS: readonly { name: string; type: string; read: (visit: VisitPart) => string | null }[] = [
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

type Batch = {
  visits: readonly VisitPart[];
  includePaused: boolean;
  latest: Date;
  now: Date;
  newKeys: readonly NewKey[];
};
/** A key, and the first visit in the batch that has it. */
type NewKey = { organizationId: OrganizationId; id: number; kind: number; key: string; visit: number };

/** All parameters of the statement, in the order $1, $2, … */
const PARAMETERS: readonly { name: string; type: string; read: (batch: Batch) => unknown }[] = [
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

/** A parameter by its name. */
function parameter(name: string): RawBuilder<unknown> {
  const index = PARAMETERS.findIndex((each) => each.name === name);
  return sql.raw(`$${index + 1}::${PARAMETERS[index]?.type}`);
}

function listNewKeys(visits: readonly VisitPart[], knownKeys: KnownKeys | undefined, now: Date): NewKey[] {
  const listed = new Map<string, NewKey>();
  visits.forEach(({ start, keys }, visit) => {
    const { organizationId } = start;
    const known = knownKeys?.find(organizationId, now);
    for (const kind of KEY_KINDS) {
      const { id, digits } = keys[kind];
      if (known?.has(id) || listed.has(organizationId + digits)) continue;
      const key = { organizationId, id, kind: toKindNumber(kind), key: toKey(kind, start), visit };
      listed.set(organizationId + digits, key);
    }
  });
  return [...listed.values()];
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

const statement = sql`-- prepared: record_touches
    with sent as materialized (
      select visit.*, widgets.id is not null and (widgets.status = 'active' or ${parameter("include_paused")}) as is_open
      from unnest(${sql.join([...VISIT_COLUMNS.map(({ name }) => parameter(name)), parameter("may_start")])})
        with ordinality as visit (${columns}, may_start, number)
      left join widgets on widgets.organization_id = visit.organization_id and widgets.id = visit.widget_id
    ), zones as materialized (
      select organization_id, version, rules, sealed_before, building_version, building_rules
      from day_zones where organization_id in (select organization_id from sent where is_open)
      order by organization_id for share
    ), admitted as materialized (
      select number from sent join zones using (organization_id)
      where is_open and (may_start or exists (
        select from funnel_visits stored where stored.organization_id = sent.organization_id
          and stored.widget_id = sent.widget_id and stored.visit_id = sent.visit_id
      ))
    ), united as (
      insert into funnel_visits as visit (${columns})
      select ${columns} from sent where number = any(array(select number from admitted))
      order by organization_id, widget_id, visit_id
      on conflict (organization_id, widget_id, visit_id) do update set
        (${sql.join(startColumns.map((name) => sql.ref(name)))}) = (
          select ${sql.join(startColumns.map((name) => sql.ref(name)))}
          from (values (${of("visit", startColumns)}), (${of("excluded", startColumns)}))
            starts (${sql.join(startColumns.map((name) => sql.ref(name)))})
          order by ${sql.join(startColumns.map((name) => sql.ref(name)))} limit 1
        ),
        ${sql.join(steps.map((name) => sql`${sql.ref(name)} = least(${of("visit", [name])}, ${of("excluded", [name])})`))},
        converted_at = greatest(visit.converted_at, excluded.converted_at),
        bookings = unite_conversions(visit.bookings, excluded.bookings),
        failures = unite_conversions(visit.failures, excluded.failures)
      where ${addsSomething}
      returning new.organization_id, new.widget_id, new.visit_id, ${of("new", SIDE_COLUMNS)},
        ${sql.join(SIDE_COLUMNS.map((name) => sql`${sql.ref(`old.${name}`)} as ${sql.ref(`old_${name}`)}`))},
        old.started_at is null as is_new,
        old.started_at is null or (${of("old", startColumns)}) <> (${of("new", startColumns)})
          or old.bookings is distinct from new.bookings as moves_keys,
        ${countSteps("new")} - (${countSteps("old")}) as new_steps
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
    ), sets as (
      select counted.*, period_from, period_until, shift
      from (
        select organization_id, version, rules as day_rules, sealed_before from zones
        union all
        select organization_id, building_version, building_rules, date '1970-01-01'
        from zones where building_version is not null
      ) counted
      cross join lateral (${selectPeriod(sql`day_rules`, parameter("latest"))}) period
    ), sides as materialized (
      select sets.*, widget_id, 1 as sign, moves_keys, ${sql.join(SIDE_COLUMNS.map((name) => sql.ref(name)))}
      from united join sets using (organization_id)
      union all
      select sets.*, widget_id, -1, moves_keys, ${sql.join(SIDE_COLUMNS.map((name) => sql.ref(`old_${name}`)))}
      from united join sets using (organization_id) where not is_new
    ), ${changes}
    , added_days as (${addToDays})
    , added_keys as (${addToKeyDays})
    , added_spans as (${addToSpans})
    -- "not in" uses a hash table; an anti join would be planned for ten rows, as nested loops.
    select
      array(select (number - 1)::integer from sent where not is_open) as paused,
      array(select (number - 1)::integer from sent where is_open and not may_start
        and number not in (select number from admitted)) as over_budget,
      array(select (number - 1)::integer from sent where is_open
        and (widget_id, visit_id) not in (select widget_id, visit_id from united where is_new)) as recorded_before,
      (select coalesce(sum(new_steps), 0)::integer from united) as new_steps`;

let statementText: string | undefined;

/** Building the text takes a third of a millisecond, so it is built once. */
function toStatementText(db: Db): string {
  statementText ??= statement.compile(db).sql;
  return statementText;
}
