import { type RawBuilder, sql } from "kysely";
import { toArrayText } from "./array-text.ts";

/** A column of a batch: its name and type in the statement, and an item's value in it. */
export type BatchColumn<Item> = {
  readonly name: string;
  readonly type: "text" | "uuid" | "integer" | "boolean" | "timestamptz" | "json";
  readonly read: (item: Item) => string | number | boolean | Date | null;
};

/**
 * Items as rows of a statement, `unnest(…) as alias (columns)`: one array per column, which PostgreSQL and Node handle several
 * times faster than a list of JSON objects.
 */
export function toBatchRows<Item>(
  alias: string,
  columns: readonly BatchColumn<Item>[],
  items: readonly Item[],
): RawBuilder<unknown> {
  const values = toBatchValues(columns, items);
  const arrays = columns.map(({ type }, i) => sql`${values[i]}::${sql.raw(type)}[]`);
  const names = columns.map(({ name }) => sql.ref(name));
  return sql`unnest(${sql.join(arrays)}) as ${sql.ref(alias)} (${sql.join(names)})`;
}

/** The parameters of `toBatchRows`. */
export function toBatchValues<Item>(columns: readonly BatchColumn<Item>[], items: readonly Item[]): string[] {
  return columns.map(({ read }) => toArrayText(items.map((item) => toText(read(item)))));
}

function toText(value: string | number | boolean | Date | null): string | null {
  return value instanceof Date ? value.toISOString() : value === null ? null : String(value);
}
