import type pg from "pg";
import type { Log } from "../../lib/log/log.ts";
import { StartError } from "../../lib/start-error.ts";
import { createHomeFunctions } from "./home-functions.ts";
import { FIRST_TABLE } from "./shard-map.ts";
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES, REFERENCE_TABLES, TABLES_BY_REFERENCE } from "./table-kinds.ts";

// Distributes the tables as table-kinds.ts says. It is one transaction, so a kill leaves everything as it was, and it can be
// repeated: tables that are already distributed so are left alone. Citus accepts a foreign key only once both of its tables
// are distributed, so the keys of the tables that move are dropped first and created again at the end.

type TableKind = "distributed" | "by_reference" | "reference" | "coordinator";

/**
 * An empty database is distributed without asking. One that has organizations may have got the extension for another reason,
 * and moving its rows takes a while, so the operator asks for it with `migrate --distribute`.
 */
export async function requireDistributed(client: pg.ClientBase): Promise<void> {
  if (await hasUndistributedRows(client))
    throw new StartError(
      "The database has the extension citus, but its tables are not distributed. Stop all Bookflow processes and run " +
        "`bookflow migrate --distribute` to spread its organizations over the servers (docs/scale.md), or remove the extension.",
    );
}

/** Processes that run meanwhile would go on with statements for plain PostgreSQL, which Citus refuses. */
export async function requireAlone(client: pg.ClientBase): Promise<void> {
  if (!(await hasUndistributedRows(client))) return;
  const { rows } = await client.query<{ others: string }>(
    `select count(*) as others from pg_stat_activity
     where datname = current_database() and application_name = 'bookflow' and pid <> pg_backend_pid()`,
  );
  if (Number(rows[0]?.others) > 0)
    throw new StartError("Stop all Bookflow processes first: some are still connected to the database.");
}

async function hasUndistributedRows(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    "select not exists (select from pg_dist_partition) and exists (select from organizations) as found",
  );
  return rows[0]?.found ?? false;
}

/** Returns the tables that were distributed. `isRepeated`: an earlier move may have left rows behind. */
export async function distributeTables(
  client: pg.ClientBase,
  { log, isRepeated }: { log: Log; isRepeated: boolean },
): Promise<string[]> {
  const missing = await listMissing(client);
  if (missing.length > 0) {
    await client.query("begin");
    try {
      await distributeMissing(client, missing);
      await client.query("commit");
    } catch (error) {
      await client.query("rollback");
      throw error;
    }
    log.info("database.distributed", { count: missing.length });
  }
  // Not at every start: it waits for whoever has locked a table.
  if (missing.length > 0 || isRepeated) await dropLeftovers(client);
  return missing.map(({ table }) => table);
}

async function distributeMissing(
  client: pg.ClientBase,
  missing: readonly { table: string; kind: TableKind }[],
): Promise<void> {
  // Reference tables and the tables that refer to them may only be changed one after the other.
  await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
  const keys = await dropForeignKeys(
    client,
    missing.map(({ table }) => table),
  );
  for (const { table, kind } of missing) await client.query(toStatement(kind), [table]);
  for (const { table, name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  await createHomeFunctions(client);
  await distributeFunctions(client);
}

function toStatement(kind: TableKind): string {
  switch (kind) {
    case "distributed":
      // One shard group on each server: every group has its own statements on every connection, and in every batch of events. When
      // servers are added, groups are split (docs/scale.md).
      return `select case when $1 = '${FIRST_TABLE}' then create_distributed_table($1, 'organization_id', colocate_with => 'none',
          shard_count => (select greatest(count(*), 1)::integer from citus_get_active_worker_nodes()))
        else create_distributed_table($1, 'organization_id', colocate_with => '${FIRST_TABLE}') end`;
    case "by_reference":
      return `select create_distributed_table($1, 'reference', colocate_with => '${FIRST_TABLE}')`;
    case "reference":
      return "select create_reference_table($1)";
    case "coordinator":
      return "select citus_add_local_table_to_metadata($1)";
    default:
      return kind satisfies never;
  }
}

async function listMissing(client: pg.ClientBase): Promise<{ table: string; kind: TableKind }[]> {
  // Earlier versions kept some tables on the coordinator that are distributed now.
  const { rows } = await client.query<{ name: string; isDistributed: boolean }>(
    `select logicalrelid::regclass::text as name, partmethod = 'h' as "isDistributed" from pg_dist_partition`,
  );
  const done = new Map(rows.map(({ name, isDistributed }) => [name, isDistributed]));
  const others = DISTRIBUTED_TABLES.filter((table) => table !== FIRST_TABLE);
  const all: [TableKind, readonly string[]][] = [
    ["reference", REFERENCE_TABLES],
    ["coordinator", COORDINATOR_TABLES],
    ["distributed", [FIRST_TABLE, ...others]],
    ["by_reference", TABLES_BY_REFERENCE],
  ];
  return all
    .flatMap(([kind, tables]) => tables.map((table) => ({ table, kind })))
    .filter(({ table, kind }) => done.get(table) !== (kind === "distributed" || kind === "by_reference"));
}

type ForeignKey = { table: string; name: string; definition: string };

async function dropForeignKeys(client: pg.ClientBase, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint
     where contype = 'f' and connamespace = 'public'::regnamespace
       and (conrelid = any($1::text[]::regclass[]) or confrelid = any($1::text[]::regclass[]))
     order by 1, 2`,
    [tables],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

/** Statements call these on the servers that have the rows. */
async function distributeFunctions(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc
     where pronamespace = 'public'::regnamespace
       and not exists (select from pg_depend where objid = pg_proc.oid and classid = 'pg_proc'::regclass and deptype = 'e')
       and not exists (select from pg_dist_object where objid = pg_proc.oid and classid = 'pg_proc'::regclass)`,
  );
  for (const { name } of rows) await client.query("select create_distributed_function($1)", [name]);
}

/** Rows that the coordinator had before its tables were distributed are copied, and hidden until they are removed here. */
async function dropLeftovers(client: pg.ClientBase): Promise<void> {
  for (const table of [...DISTRIBUTED_TABLES, ...TABLES_BY_REFERENCE, ...REFERENCE_TABLES]) {
    const { rows } = await client.query<{ bytes: string }>("select pg_relation_size($1::regclass) as bytes", [table]);
    if (Number(rows[0]?.bytes) > 0)
      await client.query("select truncate_local_data_after_distributing_table($1)", [table]);
  }
}
