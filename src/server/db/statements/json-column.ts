import type { ColumnType } from "kysely";

/** Written as JSON text, read back parsed. */
export type Json<T> = ColumnType<T, string, string>;

export function fromJson<T>(column: T | string): T {
  return typeof column === "string" ? (JSON.parse(column) as T) : column;
}
