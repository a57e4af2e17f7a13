import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId } from "#contract/ids.ts";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { openDb, openPool } from "../../db/connections/pool.ts";
import { createLog } from "../../lib/log/log.ts";
import { listDueDeliveries } from "./claim-queries.ts";
import { loadDeliveries } from "./load.ts";

const { url } = await createTestDatabase();
const now = new Date("2026-11-19T12:00:00Z");

test("what reads one delivery soon keeps its plan: planning each time delayed the first byte by a third", async (context) => {
  const pool = openPool({ url, size: 1, log: createLog("silent") });
  after(() => pool.end());
  const db = openDb(pool);
  const claimed = {
    deliveryId: "0198a0c0-0000-7000-8000-000000000001" as DeliveryId,
    organizationId: "org_x" as OrganizationId,
    endpointId: "ep_x" as EndpointId,
    trigger: "automatic",
    resumeAt: null,
    lease: { token: "", at: now, until: now, holder: null },
  } as const;
  for (let call = 0; call < 10; call++) {
    await listDueDeliveries(db, [{ endpointId: claimed.endpointId, limit: 1 }], now);
    const { error } = await loadDeliveries(db, [claimed]);
    assert.equal(error, null);
  }
  if (pool.engine === "citus") return context.skip("Citus plans for the parameters");
  const { rows } =
    await sql`select name, generic_plans, custom_plans from pg_prepared_statements order by name`.execute(db);
  const kept = { generic_plans: 5, custom_plans: 5 };
  assert.deepEqual(rows, [
    { name: "list_due_deliveries", ...kept },
    { name: "load_deliveries", ...kept },
  ]);
});
