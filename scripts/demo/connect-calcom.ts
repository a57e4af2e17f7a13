import { auditByOperator } from "../../src/server/audit/audit-by.ts";
import type { ServiceDeps } from "../../src/server/create-deps.ts";
import { DEMO_ID } from "../../src/server/demo/practice.ts";
import { addConnection, changeConnection } from "../../src/server/scheduler/connections/connections.ts";
import { listConnections } from "../../src/server/scheduler/connections/queries.ts";
import { openLivePeriod } from "../../src/server/test-mode/queries.ts";
import { changeWidget, lockWidget } from "../../src/server/widgets/app-queries.ts";
import { PRACTICE_USERS, type PracticeUser } from "./calcom/practice-user.ts";

/** `apiUrl` names the machine by its address, which the guard allows; `webUrl` is for people. */
type Place = { readonly apiUrl: string; readonly webUrl: string };

/**
 * Connects the demo's widgets with the stand-in for Cal.com, whose address may have changed since the last start. A widget goes
 * live only the first time: someone may have taken it back to test mode since.
 */
export async function connectCalcom(deps: ServiceDeps, place: Place): Promise<void> {
  const known = await listConnections(deps.db, DEMO_ID);
  for (const user of PRACTICE_USERS) {
    const connection = known.find(({ name }) => name === user.name);
    const parts = { settings: { ...place }, credentials: { apiKey: user.apiKey } };
    const settings = connection?.settings as Partial<Place> | undefined;
    if (settings?.apiUrl === place.apiUrl) continue;
    const outcome = connection
      ? await changeConnection(deps, DEMO_ID, { id: connection.id, parts })
      : await goLive(deps, user, parts);
    if (outcome.kind !== "added" && outcome.kind !== "changed")
      throw new Error(`The stand-in for Cal.com was refused: ${JSON.stringify(outcome)}`);
  }
}

type Parts = { settings: Record<string, string>; credentials: Record<string, string> };

/** The widgets' whole history counts as live. */
async function goLive(deps: ServiceDeps, user: PracticeUser, parts: Parts) {
  const audit = auditByOperator(deps, DEMO_ID, deps.clock.now());
  const wanted = { kind: "calcom", name: user.name, ...parts } as const;
  return await addConnection(deps, DEMO_ID, wanted, async (transaction, { id, name }) => {
    await audit(transaction, { action: "connection.added", target: id, name });
    for (const widget of user.widgets) {
      const row = await lockWidget(transaction, DEMO_ID, widget.id);
      if (row === null) continue;
      await changeWidget(transaction, DEMO_ID, { id: widget.id, change: { connection_id: id } });
      await openLivePeriod(transaction, DEMO_ID, { widgetId: widget.id, now: row.created_at });
      await audit(transaction, { action: "widget.went_live", target: widget.id, name: row.name });
    }
  });
}
