import { sql } from "kysely";
import { STEPS } from "#contract/analytics/steps.ts";
import { HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atHomes, readAtHome, table } from "../../db/home.ts";
import { toArrayText } from "../../db/statements/array-text.ts";
import type { LocalWindow } from "../count/local-window.ts";
import type { Hit } from "./hit.ts";

export type OwnedKey = { readonly organizationId: OrganizationId; readonly id: number };

/** Those of the keys that are stored: some visit was recorded with them. */
export async function listStoredKeys(db: Db, keys: readonly OwnedKey[]): Promise<OwnedKey[]> {
  const found = await atHomes(db, keys, async ({ reader }, rows) => {
    const stored = await sql<OwnedKey>`-- prepared: list_stored_keys
      select organization_id as "organizationId", id from ${table("funnel_keys")}
      where (organization_id, id) in (
        select owner, id from unnest(
          ${rows.map(({ organizationId }) => organizationId)}::text[], ${rows.map(({ id }) => id)}::bigint[]
        ) as wanted (owner, id)
      )`.execute(reader);
    return stored.rows;
  });
  return found.flatMap(({ result }) => result);
}

/** Those of the visits that are recorded. Not a join: PostgreSQL expects few visits of a new organization, and would read all of them for each hit. */
export async function listRecorded(home: Db, hits: readonly Hit[]): Promise<Pick<Hit, "widgetId" | "visitId">[]> {
  const values = (name: "organizationId" | "widgetId" | "visitId") =>
    toArrayText([...new Set(hits.map((hit) => hit[name]))]);
  const { rows } = await sql<Pick<Hit, "widgetId" | "visitId">>`
    select widget_id as "widgetId", visit_id as "visitId" from ${table("funnel_visits")}
    where organization_id = any(${values("organizationId")}::text[])
      and widget_id = any(${values("widgetId")}::text[]) and visit_id = any(${values("visitId")}::uuid[])`.execute(
    home,
  );
  return rows;
}

export async function addDrops(db: Db, hits: readonly Hit[], now: Date): Promise<void> {
  const groups = [...Map.groupBy(hits, ({ organizationId, widgetId }) => `${organizationId} ${widgetId}`).values()];
  const column = (read: (group: readonly Hit[]) => string) => toArrayText(groups.map(read));
  const hour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS);
  await sql`
    insert into ${table("funnel_drops", "counted")} (organization_id, widget_id, hour, events)
    select organization_id, widget_id, ${hour}, events
    from unnest(
      ${column(([first]) => first?.organizationId ?? "")}::text[], ${column(([first]) => first?.widgetId ?? "")}::text[],
      ${column((group) => String(group.reduce((sum, hit) => sum + countSteps(hit.steps), 0)))}::integer[]
    ) as dropped (organization_id, widget_id, events)
    order by organization_id collate "C", widget_id collate "C"
    on conflict (organization_id, widget_id, hour) do update set events = counted.events + excluded.events`.execute(db);
}

function countSteps(bits: number): number {
  return STEPS.filter((_, i) => bits & (1 << i)).length;
}

export async function countDrops(
  db: Db,
  owner: OrganizationId,
  { offsets, widgetId }: Pick<LocalWindow, "offsets"> & { widgetId: WidgetId | null },
): Promise<number> {
  const [from, until] = [
    offsets.map(({ fromMs }) => new Date(fromMs)),
    offsets.map(({ untilMs }) => new Date(untilMs)),
  ];
  const { rows } = await readAtHome(db, owner, (home) =>
    sql<{ events: number }>`-- prepared: count_drops
    select coalesce(sum(events), 0)::bigint as events from ${table("funnel_drops")}
    where organization_id = ${owner} and (${widgetId}::text is null or widget_id = ${widgetId}) and exists (
      select from unnest(${from}::timestamptz[], ${until}::timestamptz[]) as part (from_at, until_at)
      where hour >= from_at and hour < until_at
    )`.execute(home),
  );
  return rows[0]?.events ?? 0;
}
