import { sql } from "kysely";
import { FUNNEL_STEPS } from "#contract/analytics/steps.ts";
import { furthest } from "../../../src/server/analytics/record/merge-hits.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import { listEvents } from "./collect.ts";
import type { SentVisit } from "./event-sender.ts";

/** "visit step" of every step in the database. */
export async function listRecorded(db: Db): Promise<Set<string>> {
  const rows = await listEvents(db);
  return new Set(rows.map(({ visit_id, step }) => `${visit_id} ${step}`));
}

/** How many visits reached each step and no later one, first step to last. */
export async function countReached(db: Db): Promise<number[]> {
  const { rows } = await sql<{ furthest: number; visits: number }>`
    select ${furthest} as furthest, count(*)::integer as visits from funnel_visits group by 1`.execute(db);
  return FUNNEL_STEPS.map((_, i) => rows.find((row) => row.furthest === i + 1)?.visits ?? 0);
}

export function expectReached(visits: readonly SentVisit[]): number[] {
  return FUNNEL_STEPS.map((step) => visits.filter((visit) => visit.steps.at(-1) === step).length);
}
