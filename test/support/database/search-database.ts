import { sql } from "kysely";
import type { Db } from "../../../src/server/db/connections/pool.ts";

/** The tables that contain the text anywhere, in any letter case, including inside bytes. */
export async function findEverywhere(db: Db, text: string): Promise<string[]> {
  const { rows } = await sql<{ name: string; everything: string }>`
    select format('%I.%I', schemaname, tablename) as name, (
      select string_agg(case when data_type = 'bytea'
        then format('encode(%1$I, ''escape''), encode(%1$I, ''hex'')', column_name) else format('%I::text', column_name) end, ', ')
      from information_schema.columns where table_schema = schemaname and table_name = tablename
    ) as everything
    from pg_tables where schemaname not in ('pg_catalog', 'information_schema') order by 1`.execute(db);
  const hex = Buffer.from(text).toString("hex");
  const found: string[] = [];
  for (const { name, everything } of rows) {
    const row = sql`lower(concat_ws(' ', ${sql.raw(everything)}))`;
    const { rows: hits } = await sql`select from ${sql.raw(name)}
      where strpos(${row}, lower(${text})) > 0 or strpos(${row}, ${hex}) > 0 limit 1`.execute(db);
    if (hits.length > 0) found.push(name);
  }
  return found;
}
