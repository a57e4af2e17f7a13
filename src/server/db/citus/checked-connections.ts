import type { PostgresPool, PostgresPoolClient } from "kysely";
import { beginsTransaction } from "../joined-query.ts";
import type { Pool } from "../pool.ts";

/** A server's connections for one shard group: `check` (home-functions.ts) runs first in every transaction. */
export function checkFirst(pool: Pool, check: string): PostgresPool {
  return {
    connect: async () => new CheckedClient(await pool.connect(), check) as unknown as PostgresPoolClient,
    end: () => pool.end(),
    options: pool.options,
  };
}

class CheckedClient {
  readonly #client: PostgresPoolClient;
  readonly #check: string;
  #isInTransaction = false;

  constructor(client: PostgresPoolClient, check: string) {
    this.#client = client;
    this.#check = check;
  }

  /** The check travels with the statement; if it fails, the statement does not run. */
  async query(text: string, values: readonly unknown[]): Promise<unknown> {
    if (beginsTransaction(text)) {
      this.#isInTransaction = true;
      await this.#client.query(text, []);
      return await this.#client.query(this.#check, []);
    }
    if (text === "commit" || text === "rollback") this.#isInTransaction = false;
    else if (!this.#isInTransaction) await this.#client.query(this.#check, []);
    return await this.#client.query(text, values);
  }

  release(): void {
    this.#client.release();
  }
}
