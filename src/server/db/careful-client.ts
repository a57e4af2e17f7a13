import pg from "pg";
import { assert } from "../lib/assert.ts";
import type { DatabaseUnavailable } from "./database-unavailable.ts";
import {
  beginsTransaction,
  type Connection,
  JoinedQuery,
  joinsNext,
  ParsingQuery,
  type Prepared,
} from "./joined-query.ts";
import type { SilenceWatch } from "./silence-watch.ts";

/** A statement that starts with this is planned once per connection, under the name that follows. */
export const PREPARED = "-- prepared: ";

/**
 * Planning the largest statements takes longer than running them; node-postgres prepares statements that have a name. It always
 * gets a callback: each promise it creates itself keeps the previous one's rows in memory until the old generation is
 * collected, which then happened ten times as often.
 */
export class CarefulClient extends pg.Client {
  /** A patient client has no time limit. */
  isPatient = false;
  /** Ticks since a statement last ended on this connection; null while none is running. */
  waitedTicks: number | null = null;
  /** Set by the pool once it is connected. */
  watch: SilenceWatch | null = null;
  #asked = 0;
  /** They will be sent with the next statement. */
  #unsent: Prepared[] = [];
  #fault: DatabaseUnavailable | null = null;

  // The types of pg.Client's many overloads cannot be written down again; the arguments pass through as they are.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...args: any[]): any {
    const [text, values] = args;
    if (typeof text !== "string" || typeof args.at(-1) === "function") {
      assert(this.#unsent.length === 0, "no statement waits to be sent with this one");
      // biome-ignore lint/suspicious/noExplicitAny: see above
      return (super.query as any)(...args);
    }
    return this.#ask(text, values);
  }

  async #ask(text: string, values: unknown[] | undefined): Promise<unknown> {
    if (this.#fault) throw this.#fault;
    if (joinsNext(text)) {
      await this.#parse(text, text);
      this.#unsent.push({ name: text, text, values: [] });
      return { rows: [] };
    }
    // Nothing was sent since `begin`, so there is nothing to roll back.
    if (text === "rollback") {
      const [first] = this.#unsent.splice(0);
      if (first && beginsTransaction(first.text)) return { rows: [] };
    }
    const name = toName(text);
    // A text without parameters may be several statements, and nothing can be joined to those.
    if (name === null && !values?.length) await this.#sendUnsent();
    return await this.#send({ name, text, values: values ?? [] });
  }

  /** Prepared statements with texts as values. They are one transaction: all take effect, or none. Returns each one's result. */
  async runTogether(statements: readonly Omit<Prepared, "name">[]): Promise<pg.QueryResult[]> {
    if (this.#fault) throw this.#fault;
    const prepared = statements.map(({ text, values }) => ({ name: toName(text) ?? text, text, values }));
    for (const { name, text } of prepared) await this.#parse(name, text);
    const last = prepared.pop();
    assert(last && this.#unsent.length === 0, "there is a statement, and none waits to be sent with it");
    this.#unsent = prepared;
    return (await this.#sendAll(last)) as pg.QueryResult[];
  }

  async #parse(name: string, text: string): Promise<void> {
    if (this.#connection.parsedStatements[name] === undefined) await this.#submit(new ParsingQuery({ name, text }));
  }

  async #sendUnsent(): Promise<void> {
    const last = this.#unsent.pop();
    if (last) await this.#send(last);
  }

  async #send(statement: { name: string | null; text: string; values: readonly unknown[] }): Promise<unknown> {
    return (await this.#sendAll(statement)).at(-1);
  }

  /** The statement and those that it is sent with. */
  async #sendAll(statement: { name: string | null; text: string; values: readonly unknown[] }): Promise<unknown[]> {
    const { name, ...unnamed } = statement;
    const config = { ...unnamed, values: [...unnamed.values], ...(name !== null && { name }) };
    const joining = this.#unsent.splice(0);
    if (joining.length > 0) return (await this.#submit(new JoinedQuery(config, joining))) as unknown[];
    return [await this.#submit(config)];
  }

  #submit(query: object): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers();
    const callback = (error: Error | null, result: unknown) => {
      this.#asked--;
      this.waitedTicks = this.#asked > 0 ? 0 : null;
      if (this.#fault === null) this.watch?.heard();
      if (error) reject(this.#fault ?? error);
      else resolve(result);
    };
    this.#asked++;
    this.waitedTicks ??= 0;
    // biome-ignore lint/suspicious/noExplicitAny: see above
    (super.query as any)(query, undefined, callback);
    return promise;
  }

  /** Called when its user has finished. Statements that were never sent must not run for the next one. */
  forget(): void {
    this.isPatient = false;
    this.#unsent = [];
  }

  /** Every later statement fails with this error; node-postgres would only say that it cannot be sent. */
  fail(fault: DatabaseUnavailable): void {
    this.#fault ??= fault;
  }

  /** The connection's statement and the rest of its transaction fail, and the pool does not use it again. */
  cutOff(fault: DatabaseUnavailable): void {
    this.fail(fault);
    this.#connection.stream.destroy(fault);
  }

  get #connection(): Connection {
    return (this as unknown as { connection: Connection }).connection;
  }
}

/** Null if the statement is planned each time. */
function toName(text: string): string | null {
  return text.startsWith(PREPARED) ? text.slice(PREPARED.length, text.indexOf("\n")) : null;
}

export function asCareful(client: pg.PoolClient): CarefulClient {
  assert(client instanceof CarefulClient, "the pool makes no other clients");
  return client;
}
