import type { OrganizationId } from "#contract/ids.ts";

/**
 * Splits rows of several organizations into the groups that one statement may touch. Plain PostgreSQL takes all of them at
 * once. On Citus a statement that writes must name one organization: this function is the only place to change for that.
 */
export function toStatementGroups<T extends { readonly organizationId: OrganizationId }>(
  rows: readonly T[],
): (readonly T[])[] {
  return rows.length === 0 ? [] : [rows];
}
