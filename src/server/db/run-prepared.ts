import { type Compilable, CompiledQuery } from "kysely";
import type { Db } from "./pool.ts";

/**
 * Runs a statement that is planned once per connection under this name (careful-client.ts). Its text must always be the same, and
 * one plan must fit all its parameters.
 */
export async function runPrepared<Row>(db: Db, name: string, statement: Compilable<Row>): Promise<Row[]> {
  const { sql, parameters } = statement.compile();
  const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(`-- prepared: ${name}\n${sql}`, [...parameters]));
  return rows;
}
