import { type RawBuilder, sql } from "kysely";

// Local days in statements: an instant shifted by the zone's offset at that instant, from zone_offsets.

/** The offset of the rules at an instant: a subquery of one row, one probe of the primary key. */
export function selectPeriod(rules: RawBuilder<unknown>, at: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`select from_at as period_from, until_at as period_until, shift
    from zone_offsets where rules = ${rules} and from_at <= ${at} order by from_at desc limit 1`;
}

/** The local day of any instant. A column with the rules must be qualified, or not be called `rules`. */
export function localDay(rules: RawBuilder<unknown>, at: RawBuilder<unknown>): RawBuilder<string> {
  return sql`(${at} at time zone 'UTC' + (
    select shift from zone_offsets where zone_offsets.rules = ${rules} and from_at <= ${at} order by from_at desc limit 1
  ))::date`;
}

/**
 * The same for rows with their rules in day_rules and one of their periods in period_from, period_until and shift. Nearly every
 * instant in a batch is in that period; only the others are looked up.
 */
export function localDayNear(at: RawBuilder<unknown>): RawBuilder<string> {
  return sql`case when ${at} >= period_from and ${at} < period_until
    then (${at} at time zone 'UTC' + shift)::date else ${localDay(sql`day_rules`, at)} end`;
}
