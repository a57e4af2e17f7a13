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

/** Only fixed texts: each is prepared once per connection, under its text as name, and stays prepared. */
export function joinsNext(text: string): boolean {
  return text.length <= NAME_MAX && (BEGINS.test(text) || PREPARES.test(text) || CHECKS.test(text));
}

/** Such a statement counts only in the transaction of the one that it joins. */
export function checksNext(text: string): boolean {
  return CHECKS.test(text);
}

export function beginsTransaction(text: string): boolean {
  return BEGINS.test(text);
}

/** What node-postgres has in its code, but not in its types. */
export type Connection = {
  readonly stream: Socket;
  readonly parsedStatements: Readonly<Record<string, string>>;
  bind(message: { statement: string }): void;
  execute(message: object): void;
};

type Query = {
  requiresPreparation(): boolean;
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
};

const BaseQuery = pg.Query as unknown as new (config: pg.QueryConfig) => Query;

/** A statement with parameters or a name, and the prepared ones to run before it. */
export class JoinedQuery extends BaseQuery {
  readonly #before: readonly string[];
  #completed = 0;

  constructor(config: pg.QueryConfig, before: readonly string[]) {
    super(config);
    this.#before = before;
  }

  /** Nothing can be joined to a text that is sent as it is. */
  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: Connection): void {
    for (const statement of this.#before) {
      connection.bind({ statement });
      connection.execute({});
    }
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (this.#completed >= this.#before.length) super.handleDataRow(message);
  }

  /** Only the statement's own result counts. */
  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#completed++ >= this.#before.length) super.handleCommandComplete(message, connection);
  }
}
