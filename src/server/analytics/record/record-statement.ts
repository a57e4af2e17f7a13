import { type RawBuilder, sql } from "kysely";
import { table } from "../../db/home.ts";
import { type BatchColumn, type BatchValues, toBatchRows } from "../../db/statements/batch-rows.ts";
import { FixedStatement } from "../../db/statements/run-prepared.ts";
import { outdateHours } from "../packs/pack-queries.ts";
import { CAPPED_KINDS, OTHER_IDS } from "./capped-keys.ts";
import { KEY_KINDS, type NewKey } from "./key-id.ts";
import { STEP_COLUMNS, type VisitPart } from "./merge-hits.ts";

// One statement records hits of any number of organizations: it merges the visits with the stored ones, outdates the packs
// that had them, and names their keys. Everything is committed, or nothing. What it relies on:
// - A visit's row is a union of everything ever recorded for it, so a hit that is repeated, late, or recorded simultaneously
//   by another process gives the same row, and one that adds nothing writes nothing.
// - `old` and `new` are the row before and after, under its lock. A visit never starts later than before.
// - The organization's visit_progress row is share-locked first (`progress` feeds everything else), so the hours that are covered
//   by packs stay the same until the commit.
// - Rows are locked in key order, table by table, so two such statements never deadlock.
//
// Most columns come from lists, so read the statement as PostgreSQL gets it: record-statement.sql.

/** The columns of funnel_visits, and their values for a visit in the batch. */
export const VISIT_COLUMNS: readonly BatchColumn<VisitPart>[] = [
  { name: "organization_id", type: "text", read: ({ start }) => start.organizationId },
  { name: "widget_id", type: "text", read: ({ start }) => start.widgetId },
  { name: "visit_id", type: "uuid", read: ({ start }) => start.visitId },
  { name: "started_at", type: "timestamptz", read: ({ start }) => toIsoText(start.at) },
  ...KEY_KINDS.map(
    (kind): BatchColumn<VisitPart> => ({ name: kind, type: "bigint", read: ({ keys }) => keys[kind].digits }),
  ),
  ...STEP_COLUMNS.map(
    ({ column }, i): BatchColumn<VisitPart> => ({
      name: column,
      type: "timestamptz",
      read: ({ stepTimes }) => (stepTimes[i] ? toIsoText(stepTimes[i]) : null),
    }),
  ),
  { name: "converted_at", type: "timestamptz", read: ({ convertedAt }) => convertedAt },
  { name: "bookings", type: "jsonb", read: ({ bookings }) => bookings && JSON.stringify(bookings) },
  { name: "failures", type: "jsonb", read: ({ failures }) => failures && JSON.stringify(failures) },
];

export const KEY_COLUMNS: readonly BatchColumn<NewKey>[] = [
  { name: "key_owner", type: "text", read: ({ organizationId }) => organizationId },
  { name: "key_id", type: "bigint", read: ({ id }) => id },
  { name: "key_kind", type: "smallint", read: ({ kind }) => kind },
  { name: "key_text", type: "text", read: ({ key }) => key },
];

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

function of(row: "old" | "new" | "visit" | "excluded" | "sent", names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(`${row}.${name}`)));
}

function countSteps(row: "old" | "new"): RawBuilder<unknown> {
  const countConversions = (map: string) =>
    sql`case when ${sql.ref(`${row}.${map}`)} is null then 0 else count_conversions(${sql.ref(`${row}.${map}`)}) end`;
  return sql`num_nonnulls(${of(row, steps)})
          + ${countConversions("bookings")}
          + ${countConversions("failures")}`;
}

const isEarlier = sql`(${of("excluded", startColumns)}) < (${of("visit", startColumns)})`;

/** Whether the batch adds anything to the visit's row. */
const addsSomething = sql`${isEarlier}
        or ${sql.join(
          steps.map(
            (name) =>
              sql`least(${of("visit", [name])}, ${of("excluded", [name])}) is distinct from ${of("visit", [name])}`,
          ),
          sql`\n        or `,
        )}
        or excluded.bookings is not null or excluded.failures is not null`;

/** The earlier start's value, except that a visit with a booking is never "(other)" when it is known better: bookings bring their own keys. */
function toUnitedStart(name: string): RawBuilder<unknown> {
  const [known, sent] = [of("visit", [name]), of("excluded", [name])];
  const earlier = sql`case when ${isEarlier}
          then ${sent} else ${known} end`;
  const kind = CAPPED_KINDS.find((each) => each === name);
  if (kind === undefined) return earlier;
  const other = sql.lit(OTHER_IDS[kind]);
  return sql`case when num_nonnulls(visit.bookings, excluded.bookings) > 0 and ${earlier} = ${other}
          then coalesce(nullif(${known}, ${other}), ${sent})
          else ${earlier} end`;
}

const NEXT = sql`,\n        `;

/** Merges visits with the stored ones. `source` selects what is inserted. Returns the visits that changed. */
const unite = (source: RawBuilder<unknown>) => sql`insert into ${table("funnel_visits", "visit")} (${columns})${source}
      on conflict (organization_id, widget_id, visit_id) do update set
        ${sql.join(
          startColumns.map((name) => sql`${sql.ref(name)} = ${toUnitedStart(name)}`),
          NEXT,
        )},
        ${sql.join(
          steps.map((name) => sql`${sql.ref(name)} = least(${of("visit", [name])}, ${of("excluded", [name])})`),
          NEXT,
        )},
        converted_at = greatest(visit.converted_at, excluded.converted_at),
        bookings = unite_conversions(visit.bookings, excluded.bookings),
        failures = unite_conversions(visit.failures, excluded.failures)
      where ${addsSomething}
      returning new.organization_id, new.widget_id, new.visit_id, new.started_at, old.started_at as old_started_at,
        ${countSteps("new")}
          - (${countSteps("old")}) as new_steps,
        array[${of("new", KEY_KINDS)}] as keys`;

/** Stores keys with their texts, and marks them as used on this day. `keys` has the columns of KEY_COLUMNS. */
const nameKeys = (keys: RawBuilder<unknown>, day: RawBuilder<unknown>) => sql`
      insert into ${table("funnel_keys", "stored")} (organization_id, id, kind, key, used_on)
      select key_owner, key_id, key_kind, key_text, ${day}::date from ${keys}
      order by key_owner collate "C", key_id
      on conflict (organization_id, id) do update set used_on = excluded.used_on where stored.used_on < excluded.used_on`;

/** The starts of visits that changed, before and after, in hours that packs cover. From `united` and `progress`. */
const coveredStarts = sql`
      select organization_id, start
      from united join progress using (organization_id) cross join lateral (values (started_at), (old_started_at)) moved (start)
      where started_at < packed_before and start < packed_before`;

/** `open`: widgets that record. `created`: visits that are new (`toVisitName`). `used`: keys that were named (`toKeyName`). */
export type Recorded = { open: string[]; created: string[]; new_steps: number; used: string[] };

/**
 * CTEs `used` and `named`. Strangers could fill the table with keys that no visit has, so only those of visits that changed are
 * named. "is true" makes PostgreSQL look them up in a hash table instead of comparing each with each.
 */
const nameUsedKeys = (values: BatchValues) => sql`, used as materialized (
      select ${sql.join(KEY_COLUMNS.map(({ name }) => sql.ref(name)))} from ${toBatchRows("key", KEY_COLUMNS, values)}
      where ((key_owner, key_id) in (select organization_id, unnest(keys) from united)) is true
    ), named as (${nameKeys(sql`used`, sql`${values["day"]}::text`)})`;

const toStatement = (name: string, { namesKeys }: { namesKeys: boolean }) =>
  new FixedStatement<Recorded, BatchValues>((values) => {
    const given = (value: string, type: string) => sql`${values[value]}::${sql.raw(type)}`;
    const isOpen = sql`(widgets.status = 'active' or ${given("include_paused", "boolean")})`;
    return sql<Recorded>`-- prepared: ${sql.raw(name)}
    with progress as materialized (
      select organization_id, packed_before from ${table("visit_progress")}
      where organization_id = any(${given("owners", "text[]")}) order by organization_id for share
    ), united as (
      ${unite(sql`
        select ${of(
          "sent",
          VISIT_COLUMNS.map((column) => column.name),
        )}
        from ${toBatchRows("sent", VISIT_COLUMNS, values)}
        join progress on progress.organization_id = sent.organization_id
        join ${table("widgets")} on widgets.organization_id = sent.organization_id and widgets.id = sent.widget_id
          and ${isOpen}
        order by sent.organization_id, sent.widget_id, sent.visit_id`)}
    ), outdated as (${outdateHours(coveredStarts)}
    )${namesKeys ? nameUsedKeys(values) : sql``}
    select
      (select coalesce(json_agg(id), '[]') from ${table("widgets")}
        where id = any(${given("widgets", "text[]")}) and ${isOpen}) as open,
      (select coalesce(json_agg(widget_id || ' ' || visit_id), '[]') from united where old_started_at is null) as created,
      (select coalesce(sum(new_steps), 0)::integer from united) as new_steps,
      ${namesKeys ? sql`(select coalesce(json_agg(key_owner || ' ' || key_id), '[]') from used)` : sql`'[]'::json`} as used`;
  });

export const recordOnly = toStatement("record_hits", { namesKeys: false });
export const recordAndName = toStatement("record_and_name", { namesKeys: true });
