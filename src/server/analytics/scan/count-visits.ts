import type { RawBuilder } from "kysely";
import type { Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { readPacks } from "../../funnel/packs/read-packs.ts";
import { FewAtOnce } from "../../lib/few-at-once.ts";
import { Turns } from "../../lib/turns.ts";
import type { Filter } from "../filters.ts";
import { type LocalWindow, resolveWindow, type WindowDays } from "./local-window.ts";
import { VisitCounts } from "./visit-counts.ts";

/** What is counted from the visits. */
export type Scan = {
  owner: OrganizationId;
  days: WindowDays;
  filters: readonly Filter[];
  /** A further condition on funnel_visits. */
  condition?: RawBuilder<unknown> | undefined;
};

/**
 * Each takes a connection, and about a fifth of a busy process: reading packs takes as long as counting them. One organization
 * gets one, so that it holds up no other.
 */
const SCANS_AT_ONCE = 3;
const scans = new FewAtOnce(SCANS_AT_ONCE);

/** Counts the window's visits one by one, from one snapshot and without holding up other requests. */
export async function countVisits(
  db: Db,
  { owner, days, filters, condition }: Scan,
  wanted: { lists?: readonly Dimension[]; splitBy?: Dimension } = {},
): Promise<{ window: LocalWindow; counts: VisitCounts }> {
  return await scans.run(owner, () =>
    db
      .transaction()
      .setIsolationLevel("repeatable read")
      .setAccessMode("read only")
      .execute(async (transaction) => {
        const window = await resolveWindow(transaction, owner, days);
        const counts = new VisitCounts(window, { filters, lists: wanted.lists ?? [], splitBy: wanted.splitBy });
        const turns = new Turns();
        if (window.startMs < window.endMs)
          for await (const pack of readPacks({ transaction, owner, window, condition }))
            await turns.spend(() => counts.add(pack));
        return { window, counts };
      }),
  );
}
