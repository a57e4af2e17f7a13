import { type RawBuilder, sql } from "kysely";
import { toArrayText } from "../../db/array-text.ts";
import { table } from "../../db/home.ts";
import { outdateHours } from "../packs/pack-queries.ts";
import { CAPPED_KINDS, OTHER_IDS } from "./capped-keys.ts";
import { KEY_KINDS } from "./key-id.ts";
import { STEP_COLUMNS, type VisitPart } from "./merge-touches.ts";
import type { Touch } from "./touch.ts";

// One statement records touches of any number of organizations: it merges the visits with the stored ones and outdates the packs
// that had them. Everything is committed, or nothing. What it relies on:
// - A visit's row is a union of everything ever recorded for it, so a touch that is repeated, late, or recorded simultaneously
//   by another process gives the same row, and one that adds nothing writes nothing.
// - `old` and `new` are the row before and after, under its lock. A visit never starts later than before.
// - The organization's visit_progress row is share-locked first (`progress` feeds everything else), so the hours that are covered
//   by packs stay the same until the commit.
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

/** `open`: widgets that record. `created`: visits that are new (`toVisitName`). */
export type ResultRow = { open: string[]; created: string[]; new_steps: number };

export type Batch = { visits: readonly VisitPart[]; includePaused: boolean };

export function toVisitName({ widgetId, visitId }: Pick<Touch, "widgetId" | "visitId">): string {
  return `${widgetId} ${visitId}`;
}

/** All parameters of the statement, in the order $1, $2, … */
export const PARAMETERS: readonly { name: string; type: string; read: (batch: Batch) => unknown }[] = [
  ...VISIT_COLUMNS.map(({ name, type, read }) => ({
    name,
    type: `${type}[]`,
    read: ({ visits }: Batch) => toArrayText(visits.map(read)),
  })),
  { name: "include_paused", type: "boolean", read: ({ includePaused }) => includePaused },
  { name: "widgets", type: "text[]", read: ({ visits }) => [...new Set(visits.map(({ start }) => start.widgetId))] },
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

function of(row: "old" | "new" | "visit" | "excluded" | "sent", names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(`${row}.${name}`)));
}

function countSteps(row: "old" | "new"): RawBuilder<unknown> {
  const countConversions = (map: string) => sql`case when ${sql.ref(`${row}.${map}`)} is null then 0
    else count_conversions(${sql.ref(`${row}.${map}`)}) end`;
  return sql`num_nonnulls(${of(row, steps)}) + ${countConversions("bookings")} + ${countConversions("failures")}`;
}

const isEarlier = sql`(${of("excluded", startColumns)}) < (${of("visit", startColumns)})`;

/** Whether the batch adds anything to the visit's row. */
const addsSomething = sql`${isEarlier}
  or ${sql.join(
    steps.map(
      (name) => sql`least(${of("visit", [name])}, ${of("excluded", [name])}) is distinct from ${of("visit", [name])}`,
    ),
    sql` or `,
  )}
  or excluded.bookings is not null or excluded.failures is not null`;

/** The earlier start's value, except that a visit with a booking is never "(other)" when it is known better: bookings bring their own keys. */
function toUnitedStart(name: string): RawBuilder<unknown> {
  const [known, sent] = [of("visit", [name]), of("excluded", [name])];
  const earlier = sql`case when ${isEarlier} then ${sent} else ${known} end`;
  const kind = CAPPED_KINDS.find((each) => each === name);
  if (kind === undefined) return earlier;
  const other = sql.lit(OTHER_IDS[kind]);
  return sql`case when num_nonnulls(visit.bookings, excluded.bookings) > 0 and ${earlier} = ${other}
            then coalesce(nullif(${known}, ${other}), ${sent}) else ${earlier} end`;
}

/** Merges visits with the stored ones. `source` selects what is inserted. Returns the visits that changed, or all of them. */
export const unite = (source: RawBuilder<unknown>, { returnsAll = false } = {}) => sql`
      insert into ${table("funnel_visits", "visit")} (${columns})
      ${source}
      on conflict (organization_id, widget_id, visit_id) do update set
        ${sql.join(startColumns.map((name) => sql`${sql.ref(name)} = ${toUnitedStart(name)}`))},
        ${sql.join(steps.map((name) => sql`${sql.ref(name)} = least(${of("visit", [name])}, ${of("excluded", [name])})`))},
        converted_at = greatest(visit.converted_at, excluded.converted_at),
        bookings = unite_conversions(visit.bookings, excluded.bookings),
        failures = unite_conversions(visit.failures, excluded.failures)
      where ${returnsAll ? sql`true` : addsSomething}
      returning new.organization_id, new.widget_id, new.visit_id, new.started_at, old.started_at as old_started_at,
        ${countSteps("new")} - (${countSteps("old")}) as new_steps`;

/** The starts of visits that changed, before and after, in hours that packs cover. From `united` and `progress`. */
const coveredStarts = sql`
      select organization_id, start
      from united join progress using (organization_id) cross join lateral (values (started_at), (old_started_at)) moved (start)
      where started_at < packed_before and start < packed_before`;

const isOpen = sql`(widgets.status = 'active' or ${parameter("include_paused")})`;

export const statement = sql`-- prepared: record_touches
    with progress as materialized (
      select organization_id, packed_before from ${table("visit_progress")}
      where organization_id = any(${parameter("organization_id")}) order by organization_id for share
    ), united as (
      ${unite(sql`
        select ${of(
          "sent",
          VISIT_COLUMNS.map(({ name }) => name),
        )}
        from unnest(${sql.join(VISIT_COLUMNS.map(({ name }) => parameter(name)))}) as sent (${columns})
        join progress on progress.organization_id = sent.organization_id
        join ${table("widgets")} on widgets.organization_id = sent.organization_id and widgets.id = sent.widget_id and ${isOpen}
        order by sent.organization_id, sent.widget_id, sent.visit_id`)}
    ), outdated as (${outdateHours(coveredStarts)})
    select
      (select coalesce(json_agg(id), '[]') from ${table("widgets")} where id = any(${parameter("widgets")}) and ${isOpen}) as open,
      (select coalesce(json_agg(widget_id || ' ' || visit_id), '[]') from united where old_started_at is null) as created,
      (select coalesce(sum(new_steps), 0)::integer from united) as new_steps`;
