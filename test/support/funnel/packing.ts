import { Kysely, PostgresDialect } from "kysely";
import type { OrganizationId } from "#contract/ids.ts";
import { packVisits } from "../../../src/server/analytics/packs/pack-visits.ts";
import type { Db, Pool } from "../../../src/server/db/connections/pool.ts";
import type { Tables } from "../../../src/server/db/tables/tables.ts";

/** Packs visits, and runs something each time that the bits of outdated hours have been cleared, before visits are read. */
export async function packWithPause(
  pool: Pool,
  owner: OrganizationId,
  { now, onCleared }: { now: Date; onCleared: () => Promise<void> },
): Promise<void> {
  let isCleared = false;
  // The next transaction begins with this.
  const connect = async () => {
    if (isCleared) {
      isCleared = false;
      await onCleared();
    }
    return await pool.connect();
  };
  const db: Db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: { connect, end: () => pool.end(), options: pool.options } }),
    log: ({ query }) => {
      if (query.sql.includes(`update "visit_days" set outdated = 0`)) isCleared = true;
    },
  });
  await packVisits(db, owner, { now });
}
