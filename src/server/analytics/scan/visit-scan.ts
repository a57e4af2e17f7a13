import { type RawBuilder, sql } from "kysely";
import { type Dimension, NOT_SET } from "#contract/dimensions.ts";
import { SECOND_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { KEY_KINDS, type KeyKind, toKeyId } from "../../funnel/record/key-id.ts";
import type { Filter } from "../filters.ts";
import type { LocalWindow } from "./local-window.ts";

// The parts of statements that read visits one by one: which visits and bookings, and on which local day. Instants and offsets
// stand in the text as literals, so that PostgreSQL plans for the window that is asked for and not for an average one.
// A statement names one organization and reads each visit of the window once, through funnel_visits_by_start, and the visits
// with a booking in it through funnel_visits_by_conversion.

export type Scan = {
  owner: OrganizationId;
  window: LocalWindow;
  filters: readonly Filter[];
  /** Reads what does not match instead. Not for filters by service, which also choose among a visit's bookings. */
  isComplement?: boolean;
  /** Also has to hold, of a row of funnel_visits. Not together with isComplement. */
  visitCondition?: RawBuilder<unknown> | undefined;
};

/**
 * Settings for one transaction. Groups are made in memory: PostgreSQL expects far more of them than there are and would sort
 * all visits instead, which takes twice as long. Without parallel workers a scan never takes more than one core from recording. Days are computed in UTC.
 */
export async function withScanSettings<Result>(db: Db, run: (transaction: Db) => Promise<Result>): Promise<Result> {
  return await db.transaction().execute(async (transaction) => {
    await sql`select set_config('work_mem', '64MB', true), set_config('enable_sort', 'off', true),
      set_config('max_parallel_workers_per_gather', '0', true), set_config('timezone', 'UTC', true)`.execute(
      transaction,
    );
    return await run(transaction);
  });
}

/** Visits that started in the window and match the filters. */
export function fromViewed(scan: Scan): RawBuilder<unknown> {
  const { owner, window } = scan;
  return sql`from funnel_visits
    where organization_id = ${owner} and started_at >= ${instant(window.startMs)} and started_at < ${instant(window.endMs)}
      ${isInNoGap(startedAt, window)} ${matchesAll(scan)}`;
}

/**
 * Bookings of the window, one row each: the visit's keys, `widget_id`, the instant `at` in seconds, `lead_ms` and `service`.
 * A booking never comes before its visit's start, and `converted_at` is the last one of its visit.
 */
export function fromBooked(scan: Scan): RawBuilder<unknown> {
  return sql`from (${listConversions(scan, { failures: false })}) converted
    where ${isWithin(sql`at`, scan.window)} ${isOfServices(scan.filters)}`;
}

/** Also the failed attempts: `failed_at` is the instant of one. A row may be a booking, a failed attempt, or both. */
export function fromConverted(scan: Scan): RawBuilder<unknown> {
  const isBooking = sql`${isWithin(sql`at`, scan.window)} ${isOfServices(scan.filters)}`;
  const isFailure = isWithin(sql`failed_at`, scan.window);
  return sql`from (
      select ${keys}, widget_id, case when ${isBooking} then at end as at, case when ${isBooking} then lead_ms end as lead_ms,
        case when ${isFailure} then failed_at end as failed_at
      from (${listConversions(scan, { failures: true })}) conversion
      where ${isBooking} or ${isFailure}
    ) converted where true`;
}

/**
 * A function that gives rows is much faster in the list of columns than in the list of tables; two of them give rows side by
 * side. "offset 0" keeps the instant from being computed again wherever it is used.
 */
function listConversions(scan: Scan, { failures }: { failures: boolean }): RawBuilder<unknown> {
  const { startMs, endMs } = scan.window;
  return sql`
      select ${keys}, widget_id, (booked -> 0)::float8 / ${sql.lit(SECOND_MS)} as at,
        nullif(booked -> 1, 'null')::float8 as lead_ms, coalesce(booked ->> 2, ${sql.lit(NOT_SET)}) as service
        ${failures ? sql`, (failed -> 0)::float8 / ${sql.lit(SECOND_MS)} as failed_at` : sql``}
      from (
        select ${keys}, widget_id, jsonb_path_query(bookings, '$.*') as booked
          ${failures ? sql`, jsonb_path_query(failures, '$.*') as failed` : sql``}
        from funnel_visits
        where organization_id = ${scan.owner} and converted_at >= ${instant(startMs)} and started_at < ${instant(endMs)}
          ${failures ? sql`` : sql`and bookings is not null`} ${matchesAll(scan)}
      ) visit
      offset 0`;
}

function isWithin(at: RawBuilder<unknown>, window: LocalWindow): RawBuilder<unknown> {
  return sql`${at} >= ${seconds(window.startMs)} and ${at} < ${seconds(window.endMs)} ${isInNoGap(at, window)}`;
}

/** Whether the service of one booking, in the column `service`, matches. */
export function isOfServices(filters: readonly Filter[]): RawBuilder<unknown> {
  return and(filters.filter(({ dimension }) => dimension === "service").map((filter) => isOneOf(sql`service`, filter)));
}

const keys = sql.join(KEY_KINDS.map((kind) => sql.ref(kind)));

/** The start of a visit, in seconds since 1970. */
export const startedAt = sql<number>`date_part('epoch', started_at)`;

/**
 * The local midnight before a visit's start, as if it were in UTC. Faster than a number of days, which matters for a million
 * visits; `binToDay` makes one of it.
 */
export function startBin({ offsets }: LocalWindow): RawBuilder<unknown> {
  const shift = (offsetSeconds: number) => sql`interval '${sql.raw(String(offsetSeconds))} seconds'`;
  const last = shift(offsets.at(-1)?.seconds ?? 0);
  const changes = offsets
    .slice(1)
    .map((next, i) => sql`when started_at < ${instant(next.fromMs)} then ${shift(offsets[i]?.seconds ?? 0)}`);
  const offset = changes.length === 0 ? last : sql`case ${sql.join(changes, sql` `)} else ${last} end`;
  return sql`date_bin(interval '1 day', started_at + ${offset}, ${instant(0)})`;
}

export function binToDay(bin: RawBuilder<unknown>): RawBuilder<number> {
  return sql`(date_part('epoch', ${bin}) / 86400)::integer`;
}

/** Local days since 1 January 1970 of an instant in seconds. */
export function dayNumber(at: RawBuilder<unknown>, window: LocalWindow): RawBuilder<number> {
  return sql`floor((${at} + ${offset(at, window)}) / 86400)::integer`;
}

/** Local hours since the beginning of 1 January 1970. */
export function hourNumber(at: RawBuilder<unknown>, window: LocalWindow): RawBuilder<number> {
  return sql`floor((${at} + ${offset(at, window)}) / 3600)::integer`;
}

function offset(at: RawBuilder<unknown>, { offsets }: LocalWindow): RawBuilder<unknown> {
  const last = sql.lit(offsets.at(-1)?.seconds ?? 0);
  if (offsets.length < 2) return last;
  const changes = offsets
    .slice(1)
    .map((next, i) => sql`when ${at} < ${seconds(next.fromMs)} then ${sql.lit(offsets[i]?.seconds ?? 0)}`);
  return sql`case ${sql.join(changes, sql` `)} else ${last} end`;
}

/** Where clocks go back across midnight, a day has a gap that belongs to the day before. */
function isInNoGap(at: RawBuilder<unknown>, { offsets }: LocalWindow): RawBuilder<unknown> {
  const gaps = offsets.slice(1).flatMap((next, i) => {
    const endMs = offsets[i]?.untilMs ?? next.fromMs;
    return endMs < next.fromMs ? [sql`not (${at} >= ${seconds(endMs)} and ${at} < ${seconds(next.fromMs)})`] : [];
  });
  return and(gaps);
}

/** Whether the visit matches all filters. */
function matchesAll({ filters, isComplement = false, visitCondition }: Scan): RawBuilder<unknown> {
  if (!isComplement) return and([...filters.map(matches), ...(visitCondition ? [visitCondition] : [])]);
  return sql`and not (${sql.join(filters.map(matches), sql` and `)})`;
}

function matches({ dimension, isNegated, keys }: Filter): RawBuilder<unknown> {
  if (dimension === "widget") return isOneOf(sql`widget_id`, { keys, isNegated });
  if (dimension === "service") {
    const isBooked = sql`exists (
      select from jsonb_each(bookings) booking (key, times)
      where ${isOneOf(sql`coalesce(times ->> 2, ${sql.lit(NOT_SET)})`, { keys, isNegated: false })}
    )`;
    return isNegated ? sql`not ${isBooked}` : isBooked;
  }
  const ids = keys.map((key) => toKeyId(dimension, toStoredKey(dimension, key)));
  const list = sql.join(ids.map((id) => sql.lit(id)));
  return isNegated ? sql`${sql.ref(dimension)} not in (${list})` : sql`${sql.ref(dimension)} in (${list})`;
}

function isOneOf(
  text: RawBuilder<unknown>,
  { keys, isNegated }: { keys: readonly string[]; isNegated: boolean },
): RawBuilder<unknown> {
  const list = sql.join(keys);
  return isNegated ? sql`${text} not in (${list})` : sql`${text} in (${list})`;
}

/** Dimensions whose texts are in funnel_keys under a number. */
type KeyedDimension = KeyKind;

export function isKeyed(dimension: Dimension): dimension is KeyedDimension {
  return (KEY_KINDS as readonly string[]).includes(dimension);
}

/** Kinds that store "" where nothing is known. */
const EMPTY_KINDS: ReadonlySet<Dimension> = new Set(["page", "device", "country"]);

export function toStoredKey(dimension: KeyKind, key: string): string {
  return key === NOT_SET && EMPTY_KINDS.has(dimension) ? "" : key;
}

/** As it is shown and sent. */
export function toShownKey(key: string): string {
  return key === "" ? NOT_SET : key;
}

function and(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`` : sql`and ${sql.join(conditions, sql` and `)}`;
}

function instant(ms: number): RawBuilder<unknown> {
  return sql`${sql.lit(new Date(ms).toISOString())}::timestamptz`;
}

function seconds(ms: number): RawBuilder<unknown> {
  return sql`${sql.lit(ms / SECOND_MS)}::float8`;
}
