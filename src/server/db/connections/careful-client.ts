import pg from "pg";
import { assert } from "../../lib/assert.ts";
import { DatabaseUnavailable } from "./database-unavailable.ts";
import type { SilenceWatch } from "./silence-watch.ts";

/** A statement that starts with this is prepared once per connection, under the name that follows. */
export const PREPARED = "-- prepared: ";

/** The server ends the connection after it, and the socket closes a moment later. */
const ENDS_CONNECTION = /^57P/;

export type Statement = { readonly text: string; readonly values?: readonly unknown[] | undefined };

/**
 * node-postgres prepares statements that have a name. It always gets a callback: each promise it creates itself would keep the previous
 * one's rows in memory until the old generation is collected.
 */
export class CarefulClient extends pg.Client {
  /** A patient client has no time limit. */
  isPatient = false;
  /** Ticks since a statement last ended on this connection; null while none is running. */
  waitedTicks: number | null = null;
  /** Set by the pool once it is connected. */
  watch: SilenceWatch | null = null;
  #asked = 0;
  #fault: DatabaseUnavailable | null = null;

  // The types of pg.Client's many overloads cannot be written down again; the arguments pass through as they are.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...args: any[]): any {
    const [text, values] = args;
    // biome-ignore lint/suspicious/noExplicitAny: see above
    if (typeof text !== "string" || typeof args.at(-1) === "function") return (super.query as any)(...args);
    return this.#ask({ text, values });
  }

  /**
   * Sends the statements in one go, and waits for all of them: the connection is idle afterwards. Each runs even if the one before
   * it failed, unless they are in a transaction, so only the first error tells what happened.
   */
  async queryTogether(statements: readonly Statement[]): Promise<pg.QueryResult[]> {
    const outcomes = await Promise.allSettled(statements.map((statement) => this.#ask(statement)));
    return outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    });
  }

  #ask({ text, values }: Statement): Promise<pg.QueryResult> {
    if (this.#fault) return Promise.reject(this.#fault);
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
    const callback = (error: Error | null, result: pg.QueryResult) => {
      this.#asked--;
      this.waitedTicks = this.#asked > 0 ? 0 : null;
      if (this.#fault === null) this.watch?.heard();
      if (error) reject(this.#fault ?? error);
      else resolve(result);
      if (error instanceof pg.DatabaseError && ENDS_CONNECTION.test(error.code ?? ""))
        this.fail(new DatabaseUnavailable("The database ended the connection", error));
    };
    this.#asked++;
    this.waitedTicks ??= 0;
    const name = toName(text);
    // biome-ignore lint/suspicious/noExplicitAny: see above
    (super.query as any)({ text, values: [...(values ?? [])], ...(name !== null && { name }) }, undefined, callback);
    return promise;
  }

  /** Called when its user has finished. The pool drops it unless the next user can rely on it. */
  finish(): void {
    this.isPatient = false;
    if (this.#fault !== null || this.getTransactionStatus() !== "I") this.end().catch(() => undefined);
  }

  /** Every later statement fails with this error; node-postgres would only say that it cannot be sent. */
  fail(fault: DatabaseUnavailable): void {
    this.#fault ??= fault;
  }

  /** The connection's statement and the rest of its transaction fail, and the pool does not use it again. */
  cutOff(fault: DatabaseUnavailable): void {
    this.fail(fault);
    // What node-postgres has in its code, but not in the types of a client of a pool.
    this.connection.stream.destroy(fault);
  }
}

/** Null if the statement is not prepared. */
function toName(text: string): string | null {
  return text.startsWith(PREPARED) ? text.slice(PREPARED.length, text.indexOf("\n")) : null;
}

export function asCareful(client: pg.PoolClient): CarefulClient {
  assert(client instanceof CarefulClient, "the pool makes no other clients");
  return client;
}
