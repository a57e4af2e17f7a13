import type { AuditFilters } from "../api/queries.ts";
import { toInstants } from "../day-range.ts";

/** The log's query parameters. `from` and `to` are days. */
export const NO_FILTERS: AuditFilters = { search: "", person: "", action: "", from: "", to: "" };

/** Days are in the organization's time zone. */
export function toAuditFilters(shown: AuditFilters, timeZone: string): AuditFilters {
  return { ...shown, search: shown.search.trim(), ...toInstants(shown, timeZone) };
}

export function isFiltered(shown: AuditFilters): boolean {
  return Object.values(shown).some((value) => value !== "");
}
