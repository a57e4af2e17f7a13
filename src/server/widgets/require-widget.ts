import { type OrganizationId, parseWidgetId, type WidgetId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { notFound } from "../http/api-error.ts";
import { ownsWidget } from "./queries.ts";

/** Guard: unknown, malformed and other organizations' ids get exactly the same response. */
export async function requireWidget(db: Db, owner: OrganizationId, text: string): Promise<WidgetId> {
  const id = parseWidgetId(text);
  if (id === null || !(await ownsWidget(db, owner, id))) throw notFound("Widget");
  return id;
}
