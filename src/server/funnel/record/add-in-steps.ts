import { type RawBuilder, sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { toCitusHome } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import { addToDays, addToKeyDays, addToSpans, DAY_SUMS } from "./counters.ts";
import { KEY_KINDS } from "./key-id.ts";

// Changes to counters are first read as JSON and then added, table by table. Citus needs this: a statement that adds to a
// distributed table can't read both the organization's rows and the rules of its time zone.

const DAY_CHANGES = sql.raw(
  ["organization_id text, version integer, widget_id text, day date", ...DAY_SUMS.map((name) => `${name} bigint`)].join(
    ", ",
  ),
);
const KEY_CHANGES = sql.raw(
  "organization_id text, version integer, sealed_before date, widget_id text, day date, kind smallint, key bigint, views integer, bookings integer",
);

/** The type of one of SIDE_COLUMNS. */
export function toSideType(name: string): string {
  if (name === "bookings" || name === "failures") return "jsonb";
  return (KEY_KINDS as readonly string[]).includes(name) ? "bigint" : "timestamptz";
}

type DayChange = { widget_id: string } & Record<`reached_${1 | 2 | 3 | 4 | 5 | 6}`, number>;

/**
 * `counted` is a with clause that ends with `day_changes` and `key_changes`; `condition` chooses among them. Returns by how many
 * visits the days of all widgets together have grown.
 */
export async function addInSteps(
  transaction: Db,
  owner: OrganizationId,
  {
    counted,
    condition,
    includeSpans,
  }: { counted: RawBuilder<unknown>; condition: RawBuilder<unknown>; includeSpans: boolean },
): Promise<number> {
  const { rows } = await sql<{ days: string; keys: string }>`${counted}
    select (select coalesce(jsonb_agg(to_jsonb(day_changes)), '[]')::text from day_changes where ${condition}) as days,
      (select coalesce(jsonb_agg(to_jsonb(key_changes)), '[]')::text from key_changes where ${condition}) as keys`.execute(
    transaction,
  );
  const [changed] = rows;
  assert(changed, "a select without from gives one row");
  const home = toCitusHome(owner);
  const dayChanges = sql`with day_changes as (
    select changed.* from jsonb_to_recordset(${changed.days}::jsonb) as changed (${DAY_CHANGES}))`;
  const keyChanges = sql`with key_changes as (
    select changed.* from jsonb_to_recordset(${changed.keys}::jsonb) as changed (${KEY_CHANGES}))`;
  await sql`-- prepared: add_day_changes
    ${dayChanges} ${addToDays(home)}`.execute(transaction);
  if (changed.keys !== "[]")
    await sql`-- prepared: add_key_changes
    ${keyChanges} ${addToKeyDays(home)}`.execute(transaction);
  if (changed.keys !== "[]" && includeSpans)
    await sql`-- prepared: add_span_changes
    ${keyChanges} ${addToSpans(home)}`.execute(transaction);
  return (JSON.parse(changed.days) as DayChange[])
    .filter(({ widget_id }) => widget_id === "")
    .reduce(
      (sum, day) => sum + day.reached_1 + day.reached_2 + day.reached_3 + day.reached_4 + day.reached_5 + day.reached_6,
      0,
    );
}
