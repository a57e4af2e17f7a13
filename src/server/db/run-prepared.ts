import { type Compilable, CompiledQuery, type RawBuilder } from "kysely";
import { assert } from "../lib/assert.ts";
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

/**
 * A large statement that always has the same text. The text is put together once: for the statement that records attempts, that
 * took Node longer than the rest of the report and left so much garbage that collecting it delayed deliveries by 50 ms.
 */
export class FixedStatement<Row> {
  readonly #build: () => RawBuilder<Row>;
  #text: string | null = null;

  /** `build` gets no values: those of the parameters it contains are ignored. */
  constructor(build: () => RawBuilder<Row>) {
    this.#build = build;
  }

  /** `values` are those of the statement's parameters, in their order. */
  async run(db: Db, values: readonly unknown[]): Promise<Row[]> {
    if (this.#text === null) {
      const { sql, parameters } = this.#build().compile(db);
      assert(parameters.length === values.length, "every parameter has a value");
      this.#text = sql;
    }
    return (await db.executeQuery<Row>(CompiledQuery.raw(this.#text, [...values]))).rows;
  }
}
