import { type RawBuilder, sql } from "kysely";

/**
 * Whether the instant in a column has come. One that is twice as far away as the longest wait was written before the clock was set back.
 * Once would be too near: another process's clock may be ahead, and `now` is older than what this run wrote.
 */
export function isDue(
  column: "asking_until" | "changes_due_at" | "due_at" | "subscription_due_at",
  { now, longestMs }: { now: Date; longestMs: number },
): RawBuilder<boolean> {
  const name = sql.ref(column);
  return sql`(${name} <= ${now} or ${name} > ${new Date(now.getTime() + 2 * longestMs)})`;
}
