import { sql } from "kysely";
import type { Db } from "../db/pool.ts";
import { assert } from "../lib/assert.ts";

// What `doctor` reads from the database, across all organizations. It is meant for the operator and names no customer.

type DoctorFacts = { version: string; now: Date; users: number; failing_endpoints: number; unsettled: number };

export async function readDoctorFacts(db: Db, unsettledBefore: Date): Promise<DoctorFacts> {
  const { rows } = await sql<DoctorFacts>`
    select current_setting('server_version') as version, clock_timestamp() as now,
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
