import { sql } from "kysely";
import type { Db } from "../../src/server/db/pool.ts";

/** The tables in which the text is found anywhere, also inside bytes. */
export async function findEverywhere(db: Db, text: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select quote_ident(schemaname) || '.' || quote_ident(tablename) as name
    from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1`.execute(db);
  const hex = Buffer.from(text).toString("hex");
  const found: string[] = [];
  for (const { name } of rows) {
    const table = sql.raw(name);
    const { rows: hits } = await sql`select from ${table} as row_of
      where strpos(lower(row_of::text), lower(${text})) > 0 or strpos(row_of::text, ${hex}) > 0 limit 1`.execute(db);
    if (hits.length > 0) found.push(name);
  }
  return found;
}
