import type { Pool } from "../src/server/db/pool.ts";

// The migrated database as text, from PostgreSQL's own catalogue: npm's PostgreSQL packages don't include pg_dump.

const TABLES = `select oid, relname as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by relname`;

const COLUMNS = `select '  ' || attname || ' ' || format_type(atttypid, atttypmod)
    || case when attgenerated = 's' then ' generated always as (' || pg_get_expr(adbin, adrelid) || ') stored'
            when attidentity = 'a' then ' generated always as identity'
            when adbin is not null then ' default ' || pg_get_expr(adbin, adrelid) else '' end
    || case when attnotnull then ' not null' else '' end as line
  from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`;

const CONSTRAINTS = `select '  constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint where conrelid = $1 and contype <> 'n' order by contype, conname`;

const INDEXES = `select pg_get_indexdef(indexrelid) || ';' as line from pg_index
  where indrelid = $1 and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
  order by 1`;

const FUNCTIONS = `select pg_get_functiondef(oid) || ';' as line from pg_proc
  where pronamespace = 'public'::regnamespace and not exists
    (select from pg_depend where objid = pg_proc.oid and deptype = 'e') order by proname`;

export async function describeSchema(pool: Pool): Promise<string> {
  const lines = async (query: string, values: unknown[] = []): Promise<string[]> =>
    (await pool.query<{ line: string }>(query, values)).rows.map((row) => row.line);

  const parts: string[] = [];
  for (const { oid, name } of (await pool.query<{ oid: number; name: string }>(TABLES)).rows) {
    const members = [...(await lines(COLUMNS, [oid])), ...(await lines(CONSTRAINTS, [oid]))];
    parts.push([`create table ${name} (\n${members.join(",\n")}\n);`, ...(await lines(INDEXES, [oid]))].join("\n"));
  }
  parts.push(...(await lines(FUNCTIONS)));
  return `-- Made by \`npm run generate\` from migrations/; a test compares it with a migrated database.\n\n${parts.join("\n\n")}\n`;
}
