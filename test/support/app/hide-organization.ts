import type { OrganizationId } from "#contract/ids.ts";
import { DISTRIBUTED_TABLES } from "../../../src/server/db/citus/table-kinds.ts";
import { openPool } from "../../../src/server/db/connections/pool.ts";
import { createLog } from "../../../src/server/lib/log/log.ts";
import { listDatabaseUrls } from "../database/database.ts";

const open = (url: string) => openPool({ url, size: 1, log: createLog("silent") });

/**
 * On a cluster: puts empty shards in the place of an organization's, as statements find them for a moment while it moves to
 * another server. Returns what brings its rows back.
 */
export async function hideOrganization(url: string, owner: OrganizationId): Promise<() => Promise<void>> {
  const { shards, home } = await findShards(url, owner);
  await changeShards(home, [
    "create schema if not exists hidden",
    ...shards.flatMap((shard) => [
      `alter table public.${shard} set schema hidden`,
      `create table public.${shard} (like hidden.${shard} including all)`,
    ]),
  ]);
  return () =>
    changeShards(
      home,
      shards.flatMap((shard) => [`drop table public.${shard}`, `alter table hidden.${shard} set schema public`]),
    );
}

async function findShards(url: string, owner: OrganizationId): Promise<{ shards: string[]; home: string }> {
  const pool = open(url);
  try {
    const { rows } = await pool.query<{ shard: string }>(
      "select name || '_' || get_shard_id_for_distribution_column(name, $1::text) as shard from unnest($2::text[]) name",
      [owner, DISTRIBUTED_TABLES],
    );
    const { address = "" } = (await pool.homes?.find(owner)) ?? {};
    const home = listDatabaseUrls(new URL(url).pathname.slice(1)).find((each) => each.includes(address));
    return { shards: rows.map(({ shard }) => shard), home: String(home) };
  } finally {
    await pool.end();
  }
}

async function changeShards(home: string, statements: readonly string[]): Promise<void> {
  const pool = open(home);
  // One connection for all: the pool ends one that is returned in a transaction.
  const client = await pool.connect();
  try {
    await client.query(
      ["set citus.enable_manual_changes_to_shards = on", "set citus.enable_ddl_propagation = off", "begin"].join("; "),
    );
    for (const statement of statements) await client.query(statement);
    await client.query("commit");
  } finally {
    client.release();
    await pool.end();
  }
}
