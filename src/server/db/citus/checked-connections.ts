import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { asCareful, type CarefulClient, type Statement } from "../connections/careful-client.ts";
import type { Pool } from "../connections/pool.ts";
import { toHold, toLook } from "./home-functions.ts";

// Connections to a server of a cluster, for statements on its own tables. Each statement or transaction is sent together with
// what checks that its shard group is there, and if that fails, nothing of it counts. What is sent together runs one after the
// other even if the first fails, so these connections only read, except in a transaction that says it writes: without its
// beginning, a statement can't write.

export const READ_ONLY = "set default_transaction_read_only = on";

const BEGIN: Statement = { text: "begin read write" };
const COMMIT: Statement = { text: "commit" };
const BEGINS = /^(?:begin|start transaction [a-z ]+)$/;
const ENDS = /^(?:commit|rollback)$/;

/** A server's connections for one shard group. */
export function checkFirst(pool: Pool, shard: string, { writes }: { writes: boolean }): PostgresPool {
  return {
    connect: async () => {
      const client = await pool.connect();
      const query = writes ? toWriting(asCareful(client), shard) : toReading(asCareful(client), shard);
      // The dialect has no cursors, so it only asks in this form.
      return { query: query as unknown as PostgresPoolClient["query"], release: (destroy) => client.release(destroy) };
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

type Ask = (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult | undefined>;

function toReading(client: CarefulClient, shard: string): Ask {
  const look = { text: toLook(shard) };
  return async (text, values) => {
    if (isUnderWay(client, text)) return await client.query(text, values);
    if (BEGINS.test(text)) return (await client.queryTogether([{ text }, look]))[0];
    return (await client.queryTogether([look, { text, values }]))[1];
  };
}

function toWriting(client: CarefulClient, shard: string): Ask {
  const hold = { text: toHold(shard) };
  return async (text, values) => {
    if (isUnderWay(client, text)) return await client.query(text, values);
    if (BEGINS.test(text)) return (await client.queryTogether([{ text: `${text} read write` }, hold]))[0];
    return (await writeHeld(client, [shard], [{ text, values }]))[0];
  };
}

function isUnderWay(client: CarefulClient, text: string): boolean {
  return client.getTransactionStatus() !== "I" || ENDS.test(text);
}

/** In one transaction and one round trip. Returns what the statements return. */
export async function writeHeld(
  client: CarefulClient,
  shards: readonly string[],
  statements: readonly Statement[],
): Promise<pg.QueryResult[]> {
  const holds = shards.map((shard) => ({ text: toHold(shard) }));
  const results = await client.queryTogether([BEGIN, ...holds, ...statements, COMMIT]);
  return results.slice(1 + holds.length, -1);
}
