import { sql } from "kysely";
import type { Db } from "../db/connections/pool.ts";
import { engineOf } from "../db/engine.ts";
import { assert } from "../lib/assert.ts";

// What `doctor` reads from the database, across all organizations. It is meant for the operator and names no customer.

type DoctorFacts = { now: Date; users: number; failing_endpoints: number; unsettled: number };

/** Such as "PostgreSQL 18.6", or "PostgreSQL 18.6 with Citus 14.0-1 on 3 servers". */
export async function describeDatabase(db: Db): Promise<string> {
  const { rows: versions } = await sql<{ version: string }>`
    select current_setting('server_version') as version`.execute(db);
  const server = `PostgreSQL ${versions[0]?.version}`;
  if (engineOf(db) === "postgresql") return server;
  const { rows } = await sql<{ version: string; servers: number }>`
    select extversion as version, (select count(*) from pg_dist_node where isactive) as servers
    from pg_extension where extname = 'citus'`.execute(db);
  return `${server} with Citus ${rows[0]?.version} on ${rows[0]?.servers} servers`;
}

export async function readDoctorFacts(db: Db, unsettledBefore: Date): Promise<DoctorFacts> {
  const { rows } = await sql<DoctorFacts>`
    select clock_timestamp() as now,
      (select count(*) from users) as users,
      (select count(*) from endpoints where status = 'enabled' and removed_at is null and failing_since is not null)
        as failing_endpoints,
      (select count(*) from pending_bookings where state = 'asking' and asking_until < ${unsettledBefore}) as unsettled`.execute(
    db,
  );
  const [facts] = rows;
  assert(facts, "a select without a table gives one row");
  return facts;
}
