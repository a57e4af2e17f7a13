import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";

/** Tells whether a widget was live on the practice Cal.com at an instant. */
export type WasPractice = (widgetId: WidgetId, at: Date) => boolean;

export async function readPracticePeriods(db: Db, owner: OrganizationId): Promise<WasPractice> {
  const periods = await db
    .selectFrom("live_periods")
    .select(["widget_id", "started_at", "ended_at"])
    .where("organization_id", "=", owner)
    .where("is_practice", "=", true)
    .execute();
  return (widgetId, at) =>
    periods.some(
      (period) =>
        period.widget_id === widgetId && at >= period.started_at && (period.ended_at === null || at < period.ended_at),
    );
}
