import { sql } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";

// What an organization can have only so many of. Where there is a setting, the operator decides how many (MAX_… in config.ts).

const CAPPED = {
  widgets: { isCounted: sql`true`, name: "widgets", advice: "Reuse a paused widget", setting: "MAX_WIDGETS" },
  api_keys: {
    isCounted: sql`revoked_at is null`,
    name: "API keys",
    advice: "Revoke one that is no longer needed",
    setting: "MAX_API_KEYS",
  },
  scheduling_connections: {
    isCounted: sql`true`,
    name: "connections",
    advice: "Delete one that no widget uses",
    setting: "MAX_CONNECTIONS",
  },
  endpoints: {
    isCounted: sql`removed_at is null`,
    name: "endpoints",
    advice: "Delete one that is no longer needed",
    setting: "MAX_ENDPOINTS",
  },
  report_links: {
    isCounted: sql`true`,
    name: "links to reports",
    advice: "Revoke one that is no longer needed",
    setting: null,
  },
  segments: { isCounted: sql`true`, name: "segments", advice: "Delete one that is no longer needed", setting: null },
} as const;

/** Locks the organization's row until the transaction ends, so that two requests at once can't both take the last place. */
export async function countLocked(transaction: Db, owner: OrganizationId, table: keyof typeof CAPPED): Promise<number> {
  await lockForCount(transaction, owner);
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${sql.table(table)} where organization_id = ${owner} and ${CAPPED[table].isCounted}
  `.execute(transaction);
  return rows[0]?.count ?? 0;
}

/** Before something is inserted and then counted: on a cluster, two who have inserted would wait for each other. */
export async function lockForCount(transaction: Db, owner: OrganizationId): Promise<void> {
  await transaction.selectFrom("organizations").select("id").where("id", "=", owner).forNoKeyUpdate().execute();
}

/** What to tell a person who wants one more. */
export function describeCap(table: keyof typeof CAPPED, most: number): string {
  const { name, advice, setting } = CAPPED[table];
  const help = setting === null ? "" : `, or ask the operator to raise ${setting}`;
  return `An organization can have at most ${most} ${name}. ${advice}${help}.`;
}
