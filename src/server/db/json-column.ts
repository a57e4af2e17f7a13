import type { ColumnType } from "kysely";

/** Written as JSON text, read back parsed. */
export type Json<T> = ColumnType<T, string, string>;
