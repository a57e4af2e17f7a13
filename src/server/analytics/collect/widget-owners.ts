import { sql } from "kysely";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/connections/pool.ts";
import { readAnywhere, table } from "../../db/home.ts";
import { Batcher, type BatcherLimits } from "../../lib/concurrency/batcher.ts";
import type { OutageLog } from "../../lib/log/outage-log.ts";
import { RecentMap } from "../../lib/recent-map.ts";

type WidgetOwner = {
  readonly organizationId: OrganizationId;
  /** The organization's own hosts. A visit from one of them has no source. */
  readonly ownHosts: readonly string[];
};

type FoundOwner =
  | { kind: "found"; owner: WidgetOwner }
  | { kind: "unknown_widget" }
  | { kind: "queue_full" }
  | { kind: "database_unavailable" };

const WIDGETS_KEPT = 20_000;
/** A widget never changes owner, but its booking page may change. */
const FRESH_MS = 5 * MINUTE_MS;
/** One connection is enough for all lookups, even while strangers ask for widgets that do not exist. */
const LOOKUP_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 5_000, atOnce: 1, waitMs: 5_000 };

/** Finds a widget's organization, from memory if possible. Unknown widgets are looked up every time. */
export class WidgetOwners {
  readonly #known = new RecentMap<WidgetId, { found: FoundOwner; freshUntilMs: number }>(WIDGETS_KEPT);
  readonly #lookups: Batcher<WidgetId, WidgetOwner | null>;
  readonly #outages: OutageLog;
  readonly #serviceUrl: string;

  constructor(deps: { db: Db; outages: OutageLog; serviceUrl: string }) {
    this.#outages = deps.outages;
    this.#serviceUrl = deps.serviceUrl;
    this.#lookups = new Batcher(LOOKUP_LIMITS, (ids) => this.#lookUp(deps.db, ids));
  }

  async find(id: WidgetId, now: Date): Promise<FoundOwner> {
    const known = this.#known.get(id);
    if (known !== undefined && known.freshUntilMs > now.getTime()) return known.found;
    const batched = await this.#lookups.submit(id).catch((error: unknown) => {
      this.#outages.failed(error);
      return null;
    });
    if (batched?.kind === "full") return { kind: "queue_full" };
    if (batched?.kind !== "done") return { kind: "database_unavailable" };
    if (batched.result === null) return { kind: "unknown_widget" };
    const found: FoundOwner = { kind: "found", owner: batched.result };
    this.#known.set(id, { found, freshUntilMs: now.getTime() + FRESH_MS });
    return found;
  }

  async #lookUp(db: Db, ids: readonly WidgetId[]): Promise<(WidgetOwner | null)[]> {
    const rows = await findWidgetOwners(db, [...new Set(ids)]);
    const owners = new Map(
      rows.map((row) => [
        row.id,
        { organizationId: row.organization_id, ownHosts: [this.#serviceUrl, ...row.booking_urls] },
      ]),
    );
    return ids.map((id) => owners.get(id) ?? null);
  }
}

type WidgetOwnerRow = { id: WidgetId; organization_id: OrganizationId; booking_urls: string[] };

/** Not scoped to an organization, because it finds the owner. With the booking pages of all the owner's widgets. */
async function findWidgetOwners(db: Db, ids: readonly WidgetId[]): Promise<WidgetOwnerRow[]> {
  const { rows } = await readAnywhere(db, (home) =>
    sql<WidgetOwnerRow>`-- prepared: find_widget_owners
    select widgets.id, widgets.organization_id, array(
      select distinct own.booking_url from ${table("widgets", "own")}
      where own.organization_id = widgets.organization_id and own.booking_url is not null
    ) as booking_urls
    from ${table("widgets")} where widgets.id = any(${ids}::text[])`.execute(home),
  );
  return rows;
}
