import type { Dimension } from "#contract/dimensions.ts";
import type { Column, VisitPack } from "../packs/visit-pack.ts";
import { isKeyed, toKeyId } from "../record/key-id.ts";
import { toStoredKey } from "../report/dimension-keys.ts";
import type { Filter } from "../report/filters.ts";

type VisitDimension = Exclude<Dimension, "service">;

/** What a pack has instead of a filter's texts: numbers for keys, texts for widgets. */
type VisitFilter = { dimension: VisitDimension; isNegated: boolean; values: ReadonlySet<number | string> };

/** The filters by something that each visit has one value of. */
export function toVisitFilters(filters: readonly Filter[]): VisitFilter[] {
  return filters.flatMap(({ dimension, isNegated, keys }) => {
    if (dimension !== "widget" && !isKeyed(dimension)) return [];
    const values = isKeyed(dimension) ? keys.map((key) => toKeyId(dimension, toStoredKey(dimension, key))) : keys;
    return [{ dimension, isNegated, values: new Set<number | string>(values) }];
  });
}

export function toVisitColumn(pack: VisitPack, dimension: VisitDimension): Column<number | string> {
  return dimension === "widget" ? pack.widgets : pack.keys[dimension];
}

/** Says for each visit whether it matches all filters: 1 if it does, else 0. */
export function matchVisits(pack: VisitPack, filters: readonly VisitFilter[], matches: Uint8Array): void {
  matches.fill(1);
  for (const { dimension, isNegated, values } of filters) {
    const column = toVisitColumn(pack, dimension);
    const flags: boolean[] = [];
    for (let i = 0; i < column.values.length; i++)
      flags.push(values.has(column.values[i] as number | string) !== isNegated);
    for (let i = 0; i < matches.length; i++) if (!flags[column.places[i] as number]) matches[i] = 0;
  }
}
