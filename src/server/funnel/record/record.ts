import { CompiledQuery } from "kysely";
import { engineOf, toStatementGroups } from "../../db/engine.ts";
import type { Db } from "../../db/pool.ts";
import { assert } from "../../lib/assert.ts";
import { KEY_KINDS, toKey, toKindNumber } from "./key-id.ts";
import type { KnownKeys } from "./known-keys.ts";
import { mergeTouches, type VisitPart } from "./merge-touches.ts";
import { recordInSteps } from "./record-in-steps.ts";
import { type Batch, type NewKey, PARAMETERS, type ResultRow, statement } from "./record-statement.ts";
import type { Touch } from "./touch.ts";

// Records touches: one statement on plain PostgreSQL (record-statement.ts), a few statements per organization on Citus
// (record-in-steps.ts).

type RecordOptions = {
  /** Touches of paused widgets count too. */
  includePaused?: boolean;
  /** Required for touches in the past. */
  now?: Date;
  /** Avoids sending keys that are already stored. Use it only outside a transaction: what it learns must be committed. */
  knownKeys?: KnownKeys;
};

type Recorded = {
  /** One per touch. `paused` includes widgets that do not exist. */
  outcomes: ("recorded" | "paused" | "over_budget")[];
  /** For each touch, whether its visit was already recorded. */
  wasKnown: boolean[];
  /** Steps, bookings and failed attempts that were not recorded before. */
  newSteps: number;
};

export async function recordTouches(db: Db, touches: readonly Touch[], options: RecordOptions = {}): Promise<Recorded> {
  return await prepareTouches(db, touches, options)();
}

/** Does this process's part at once; the database's part begins when the returned function is called. */
export function prepareTouches(
  db: Db,
  touches: readonly Touch[],
  options: RecordOptions = {},
): () => Promise<Recorded> {
  const placed = touches.map((touch, place) => ({ organizationId: touch.organizationId, touch, place }));
  const groups = toStatementGroups(db, placed).map(({ rows }) => ({
    rows,
    recordRows: prepareGroup(
      db,
      rows.map(({ touch }) => touch),
      options,
    ),
  }));
  return async () => {
    const all: Recorded = { outcomes: [], wasKnown: [], newSteps: 0 };
    for (const { rows, recordRows } of groups) {
      const recorded = await recordRows();
      // One result per touch.
      rows.forEach(({ place }, i) => {
        all.outcomes[place] = recorded.outcomes[i] as Recorded["outcomes"][number];
        all.wasKnown[place] = recorded.wasKnown[i] as boolean;
      });
      all.newSteps += recorded.newSteps;
    }
    return all;
  };
}

function prepareGroup(
  db: Db,
  touches: readonly Touch[],
  { includePaused = false, knownKeys, ...options }: RecordOptions,
): () => Promise<Recorded> {
  const { visits, visitOfTouch } = mergeTouches(touches);
  const latest = new Date(Math.max(...touches.map((touch) => touch.at.getTime())));
  const now = options.now ?? latest;
  const newKeys = listNewKeys(visits, knownKeys, now);
  const batch = { visits, includePaused, latest, now, newKeys };
  const run = engineOf(db) === "citus" ? () => recordInSteps(db, batch) : prepareAtOnce(db, batch);
  return async () => {
    const row = await run();
    const paused = new Set(row.paused);
    const overBudget = new Set(row.over_budget);
    const recordedBefore = new Set(row.recorded_before);
    // A key was stored only if its visit was written.
    for (const { organizationId, id, visit } of newKeys)
      if (!paused.has(visit) && !overBudget.has(visit) && !recordedBefore.has(visit))
        knownKeys?.add(organizationId, id, now);
    return {
      outcomes: visitOfTouch.map((visit) =>
        paused.has(visit) ? "paused" : overBudget.has(visit) ? "over_budget" : "recorded",
      ),
      wasKnown: visitOfTouch.map((visit) => recordedBefore.has(visit)),
      newSteps: row.new_steps,
    };
  };
}

function prepareAtOnce(db: Db, batch: Batch): () => Promise<ResultRow> {
  const query = CompiledQuery.raw(
    toStatementText(db),
    PARAMETERS.map(({ read }) => read(batch)),
  );
  return async () => {
    const { rows } = await db.executeQuery<ResultRow>(query);
    const [row] = rows;
    assert(row, "a select of arrays gives one row");
    return row;
  };
}

function listNewKeys(visits: readonly VisitPart[], knownKeys: KnownKeys | undefined, now: Date): NewKey[] {
  const listed = new Map<string, NewKey>();
  visits.forEach(({ start, keys }, visit) => {
    const { organizationId } = start;
    const known = knownKeys?.find(organizationId, now);
    for (const kind of KEY_KINDS) {
      const { id, digits } = keys[kind];
      if (known?.has(id) || listed.has(organizationId + digits)) continue;
      const key = { organizationId, id, kind: toKindNumber(kind), key: toKey(kind, start), visit };
      listed.set(organizationId + digits, key);
    }
  });
  return [...listed.values()];
}

let statementText: string | undefined;

/** Building the text takes a third of a millisecond, so it is built once. */
function toStatementText(db: Db): string {
  statementText ??= statement.compile(db).sql;
  return statementText;
}
