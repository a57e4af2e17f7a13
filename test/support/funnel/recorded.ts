import { sql } from "kysely";
import { FUNNEL_STEPS } from "#contract/steps.ts";
import type { Db } from "../../../src/server/db/pool.ts";
import { listEvents } from "./collect.ts";
import type { SentVisit } from "./event-sender.ts";

/** "visit step" of every step in the database. */
export async function listRecorded(db: Db): Promise<Set<string>> {
  const rows = await listEvents(db);
  return new Set(rows.map(({ visit_id, step }) => `${visit_id} ${step}`));
}

/** How many visits reached each step, from the counters of all widgets, first step to last. */
export async function countReached(db: Db): Promise<number[]> {
  const { rows } = await sql<{ reached: number[] }>`
    select array[sum(reached_1), sum(reached_2), sum(reached_3), sum(reached_4), sum(reached_5), sum(reached_6)]::integer[]
      as reached
    from funnel_days where widget_id = ''`.execute(db);
  return rows[0]?.reached ?? [];
}

export function expectReached(visits: readonly SentVisit[]): number[] {
  return FUNNEL_STEPS.map((step) => visits.filter((visit) => visit.steps.at(-1) === step).length);
}
