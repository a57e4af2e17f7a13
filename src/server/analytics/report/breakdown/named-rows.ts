import { createCountryNames, toKeyName } from "#contract/app/report-words.ts";
import type { Dimension } from "#contract/dimensions.ts";

// People see countries and devices by name, countries in their own language. PostgreSQL doesn't know these names. There are few
// of them, so they are searched and sorted here.

type NamedDimension = Extract<Dimension, "country" | "device">;

export function isNamed(dimension: Dimension): dimension is NamedDimension {
  return dimension === "country" || dimension === "device";
}

/** More than there are: a country has two letters. */
export const NAMED_ROWS_MAX = 1_000;

type Arrangement = {
  dimension: NamedDimension;
  language: string;
  search: string | null;
  /** By name; null to keep the order of the rows. */
  nameOrder: "asc" | "desc" | null;
};

/** The rows whose name contains the search, or whose key is it, with their names as labels. */
export function arrangeNamed<Row extends { key: string }>(
  rows: readonly Row[],
  { dimension, language, search, nameOrder }: Arrangement,
): (Row & { label: string })[] {
  const countryNames = createCountryNames(language);
  const named = rows.map((row) => ({ ...row, label: toKeyName(dimension, row.key, countryNames) }));
  const text = fold(search ?? "");
  const found = named.filter(({ key, label }) => fold(label).includes(text) || fold(key) === text);
  if (nameOrder === null) return found;
  const { compare } = new Intl.Collator(language);
  return found.sort((a, b) => (nameOrder === "asc" ? compare(a.label, b.label) : compare(b.label, a.label)));
}

/** Without accents and capitals: osterreich finds Österreich. */
function fold(text: string): string {
  return text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
}
