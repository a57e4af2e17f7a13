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

/** Stands for a value while a statement's text is put together. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A large statement that always has the same text. The text is put together once: for the statement that records attempts, that
 * took Node longer than the rest of the report and left so much garbage that collecting it delayed deliveries by 50 ms.
 */
export class FixedStatement<Row, Values extends object> {
  readonly #build: (values: Values) => RawBuilder<Row>;
  #compiled: CompiledQuery | null = null;

  /** `build` gets placeholders, so it can only put the values into the statement. */
  constructor(build: (values: Values) => RawBuilder<Row>) {
    this.#build = build;
  }

  async run(db: Db, values: { readonly [Name in keyof Values]: Values[Name] | null }): Promise<Row[]> {
    this.#compiled ??= this.#build(toPlaceholders<Values>()).compile(db);
    const find = ({ name }: Placeholder) => {
      assert(name in values, `the statement's ${name} has a value`);
      return values[name as keyof Values];
    };
    const parameters = this.#compiled.parameters.map((each) => (each instanceof Placeholder ? find(each) : each));
    return (await db.executeQuery<Row>(CompiledQuery.raw(this.#compiled.sql, parameters))).rows;
  }
}

function toPlaceholders<Values extends object>(): Values {
  return new Proxy({} as Values, { get: (_, name) => new Placeholder(String(name)) });
}
