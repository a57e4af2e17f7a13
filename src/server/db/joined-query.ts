import type { Socket } from "node:net";
import pg from "pg";

// Nobody waits for the reply to statements such as `begin`, so they are sent together with the next statement: a transaction takes
// one round trip less. The server runs them in order, and if one fails, it skips those after it.

const BEGINS = /^(?:begin|start transaction [a-z ]+)$/;
const PREPARES = /^(?:(?:release )?savepoint \w+|set local \w+ (?:= \w+|to default))$/;
/** On Citus, whether a shard group is still on this server (citus/home-functions.ts). */
const CHECKS = /^select from bookflow_(?:hold|look)\(\d+\)$/;
/** PostgreSQL's limit for names. */
const NAME_MAX = 63;

/** Only fixed texts: each is prepared once per connection, under its text as name. */
export function joinsNext(text: string): boolean {
  return text.length <= NAME_MAX && (BEGINS.test(text) || PREPARES.test(text) || CHECKS.test(text));
}

export function beginsTransaction(text: string): boolean {
  return BEGINS.test(text);
}

/** What node-postgres has in its code, but not in its types. */
export type Connection = {
  readonly stream: Socket;
  readonly parsedStatements: Readonly<Record<string, string>>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly unknown[]; valueMapper: (value: unknown) => unknown }): void;
  describe(message: { type: "P"; name: "" }): void;
  execute(message: object): void;
  sync(): void;
};

export type Prepared = { readonly name: string; readonly text: string; readonly values: readonly unknown[] };

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

const BaseQuery = pg.Query as unknown as new (
  config: pg.QueryConfig & { queryMode: "extended" },
) => {
  prepare(connection: Connection): void;
};

/** Prepares a statement without running it. */
export class ParsingQuery extends BaseQuery {
  readonly #statement: { name: string; text: string };

  constructor(statement: { name: string; text: string }) {
    super({ ...statement, queryMode: "extended" });
    this.#statement = statement;
  }

  override prepare(connection: Connection): void {
    connection.parse(this.#statement);
    connection.sync();
  }
}

/** A statement, and prepared ones to run before it. Gives an array with the result of each. */
export class JoinedQuery extends BaseQuery {
  readonly #before: readonly Prepared[];

  constructor(config: pg.QueryConfig, before: readonly Prepared[]) {
    super({ ...config, queryMode: "extended" });
    this.#before = before;
  }

  override prepare(connection: Connection): void {
    for (const { name, values } of this.#before) {
      connection.bind({ statement: name, values, valueMapper: prepareValue });
      connection.describe({ type: "P", name: "" });
      connection.execute({});
    }
    super.prepare(connection);
  }
}
