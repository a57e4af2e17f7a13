import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { listWidgets } from "./queries.ts";

export async function readWidgetNames(db: Db, owner: OrganizationId): Promise<ReadonlyMap<WidgetId, string>> {
  return new Map((await listWidgets(db, owner)).map(({ id, name }) => [id, name]));
}
