import { auditByOperator } from "../../src/server/audit/audit-by.ts";
import type { ServiceDeps } from "../../src/server/create-deps.ts";
import { BRANCH, CHILDREN, DEMO_ID, type DemoWidget, LANDING_PAGE, WEBSITE } from "../../src/server/demo/practice.ts";
import { addConnection, changeConnection } from "../../src/server/scheduler/connections/connections.ts";
import { listConnections } from "../../src/server/scheduler/connections/queries.ts";
import { isPractice } from "../../src/server/scheduler/practice/practice-url.ts";
import { openLivePeriod } from "../../src/server/test-mode/queries.ts";
import { changeWidget, lockWidget } from "../../src/server/widgets/app-queries.ts";

/** An account in the practice Cal.com: one place of the clinic, whose calendar is a widget's sandbox. */
type PracticeUser = {
  readonly name: string;
  readonly calendar: DemoWidget;
  readonly widgets: readonly DemoWidget[];
};

const PRACTICE_USERS: readonly PracticeUser[] = [
  { name: "Lindenhof Dental Berlin", calendar: WEBSITE, widgets: [WEBSITE, LANDING_PAGE] },
  { name: "Lindenhof Dental Potsdam", calendar: BRANCH, widgets: [BRANCH] },
  { name: "Lindenhof Dental for children", calendar: CHILDREN, widgets: [CHILDREN] },
];

/**
 * Connects the demo's widgets with the practice Cal.com, whose address may have changed since the last start. A widget goes live
 * only the first time: someone may have taken it back to test mode since.
 */
export async function connectCalcom(deps: ServiceDeps, practiceUrl: string): Promise<void> {
  const known = await listConnections(deps.db, DEMO_ID);
  for (const user of PRACTICE_USERS) {
    const connection = known.find(({ name, settings }) => name === user.name && isPractice(settings));
    const address = `${practiceUrl}/${user.calendar.id}`;
    const parts = { settings: { apiUrl: address, webUrl: address }, credentials: { apiKey: "practice" } };
    const settings = connection?.settings as Partial<typeof parts.settings> | undefined;
    if (settings?.apiUrl === address) continue;
    const outcome = connection
      ? await changeConnection(deps, DEMO_ID, { id: connection.id, parts })
      : await goLive(deps, user, parts);
    if (outcome.kind !== "added" && outcome.kind !== "changed")
      throw new Error(`The practice Cal.com was refused: ${JSON.stringify(outcome)}`);
  }
}

type Parts = { settings: Record<string, string>; credentials: Record<string, string> };

async function goLive(deps: ServiceDeps, user: PracticeUser, parts: Parts) {
  const now = deps.clock.now();
  const audit = auditByOperator(deps, DEMO_ID, now);
  const wanted = { kind: "calcom", name: user.name, ...parts } as const;
  return await addConnection(deps, DEMO_ID, wanted, async (transaction, { id, name }) => {
    await audit(transaction, { action: "connection.added", target: id, name });
    for (const widget of user.widgets) {
      const row = await lockWidget(transaction, DEMO_ID, widget.id);
      if (row === null) continue;
      await changeWidget(transaction, DEMO_ID, { id: widget.id, change: { connection_id: id } });
      await openLivePeriod(transaction, DEMO_ID, { widgetId: widget.id, now, isPractice: true });
      await audit(transaction, { action: "widget.went_live", target: widget.id, name: row.name });
    }
  });
}
