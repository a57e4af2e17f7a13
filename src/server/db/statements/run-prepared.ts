import { CompiledQuery, type Expression, type RawBuilder, sql } from "kysely";
import { assert } from "../../lib/assert.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";
import type { Db } from "../connections/pool.ts";

// Which statements are prepared, and what PostgreSQL then does: docs/decisions/0022-statements-and-plans.md.

/** Runs a prepared statement (careful-client.ts). Its text must always be the same, and one plan must fit all its parameters. */
export async function runPrepared<Row>(db: Db, name: string, statement: Expression<Row>): Promise<Row[]> {
  return (await sql<Row>`${sql.raw(`-- prepared: ${name}\n`)}${statement}`.execute(db)).rows;
}

/**
 * An array of which PostgreSQL doesn't know the length when it plans. Otherwise, planning for one element looks so much cheaper than
 * the plan for any number that a prepared statement is planned again for each call.
 */
export function ofAnyLength(array: unknown, type: string): RawBuilder<unknown> {
  return sql`(select ${array}::${sql.raw(type)})`;
}

/** A statement that runs often. Its text is built once: building the large ones each time delayed deliveries. */
export class FixedStatement<Row, Values extends object> {
  readonly #build: (values: Placeholders<Values>) => RawBuilder<Row>;
  /** For each database, or home on a cluster. */
  readonly #built = new WeakMap<object, { text: string; parameters: readonly unknown[] }>();

  /** `build` gets a placeholder for each value. It may only put them into the statement: comparing one tells nothing. */
  constructor(build: (values: Placeholders<Values>) => RawBuilder<Row>) {
    this.#build = build;
  }

  async run(db: Db, values: Values): Promise<Row[]> {
    const { text, values: given } = this.compile(db, values);
    return (await db.executeQuery<Row>(CompiledQuery.raw(text, given))).rows;
  }

  compile(db: Db, values: Values): { text: string; values: unknown[] } {
    const { adapter } = db.getExecutor();
    let built = this.#built.get(adapter);
    if (built === undefined) {
      const { sql, parameters } = this.#build(toPlaceholders<Placeholders<Values>>()).compile(db);
      built = { text: sql, parameters };
      this.#built.set(adapter, built);
    }
    const { text, parameters } = built;
    return { text, values: parameters.map((each) => (each instanceof Placeholder ? each.find(values) : each)) };
  }
}

/** A value that may be null has a placeholder too. */
type Placeholders<Values> = { readonly [Name in keyof Values]: NonNullable<Values[Name]> };

class Placeholder {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  find(values: object): unknown {
    const value = (values as Record<string, unknown>)[this.#name];
    assert(value !== undefined, "each placeholder of a statement has a value");
    return value;
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`The statement's ${this.#name} is only known when it runs`);
  }
}

function toPlaceholders<Values extends object>(): Values {
  return new Proxy({} as Values, {
    get: (_, name) => new Placeholder(String(name)),
    ownKeys: () => {
      throw new LoggableError("The values of a fixed statement can't be listed while it is built");
    },
  });
}
