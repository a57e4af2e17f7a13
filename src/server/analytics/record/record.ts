import { CompiledQuery } from "kysely";
import { engineOf } from "../../db/engine.ts";
import { atHomes } from "../../db/home.ts";
import type { Db } from "../../db/pool.ts";
import { FixedText } from "../../db/run-prepared.ts";
import { assert } from "../../lib/assert.ts";
import { KEY_KINDS, toKey, toKindNumber } from "./key-id.ts";
import type { KnownKeys } from "./known-keys.ts";
import { mergeTouches, type VisitPart } from "./merge-touches.ts";
import { listKnownVisits, type NewKey, nameKeys } from "./name-keys.ts";
import { recordInSteps } from "./record-in-steps.ts";
import { type Batch, PARAMETERS, type ResultRow, statement, toVisitName } from "./record-statement.ts";
import type { Touch } from "./touch.ts";

// Records touches with one statement for each home (record-statement.ts). Keys that are not stored yet, which few batches have,
// are named in the same transaction. Bookings on Citus still record in steps (record-in-steps.ts).

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

/** Touches may belong to several organizations. */
export async function recordTouches(db: Db, touches: readonly Touch[], options: RecordOptions = {}): Promise<Recorded> {
  const placed = touches.map((touch, place) => ({ organizationId: touch.organizationId, touch, place }));
  const all: Recorded = { outcomes: [], wasKnown: [], newSteps: 0 };
  const recorded = await atHomes(db, placed, ({ writer }, rows) =>
    prepareTouches(
      rows.map(({ touch }) => touch),
      options,
    )(writer),
  );
  for (const { rows, result } of recorded) {
    // One result per touch.
    rows.forEach(({ place }, i) => {
      all.outcomes[place] = result.outcomes[i] as Recorded["outcomes"][number];
      all.wasKnown[place] = result.wasKnown[i] as boolean;
    });
    all.newSteps += result.newSteps;
  }
  return all;
}

/**
 * Does this process's part at once; the database's part begins when the returned function is called, with the home of all their
 * organizations.
 */
export function prepareTouches(
  touches: readonly Touch[],
  { includePaused = false, knownKeys, ...options }: RecordOptions = {},
): (home: Db) => Promise<Recorded> {
  const now = options.now ?? new Date(Math.max(...touches.map((touch) => touch.at.getTime())));
  const merged = mergeTouches(touches);
  const mayAllStart = merged.visits.every(({ mayStart }) => mayStart);
  const prepare = (visits: readonly VisitPart[]) => ({
    newKeys: listNewKeys(visits, knownKeys, now),
    run: prepareBatch({ visits, includePaused }),
  });
  const all = mayAllStart ? prepare(merged.visits) : null;
  return async (db) => {
    const overBudget = mayAllStart ? new Set<VisitPart>() : await findOverBudget(db, merged.visits);
    const { newKeys, run } = all ?? prepare(merged.visits.filter((visit) => !overBudget.has(visit)));
    const row = await (newKeys.length === 0
      ? run(db)
      : inOneTransaction(db, async (transaction) => {
          const recorded = await run(transaction);
          await nameKeys(transaction, newKeys, now);
          return recorded;
        }));
    const open = new Set(row.open);
    const created = new Set(row.created);
    // A key was certainly stored if one of its visits is new.
    for (const { organizationId, id, starts } of newKeys)
      if (starts.some((start) => created.has(toVisitName(start)))) knownKeys?.add(organizationId, id, now);
    const visits = merged.visitOfTouch.map((index) => merged.visits[index] as VisitPart);
    return {
      outcomes: visits.map((visit) =>
        overBudget.has(visit) ? "over_budget" : open.has(visit.start.widgetId) ? "recorded" : "paused",
      ),
      wasKnown: visits.map(({ start }) => !created.has(toVisitName(start))),
      newSteps: row.new_steps,
    };
  };
}

/** Those that may not start a visit, and whose visit is not recorded yet. */
async function findOverBudget(db: Db, visits: readonly VisitPart[]): Promise<Set<VisitPart>> {
  const stopped = visits.filter(({ mayStart }) => !mayStart);
  const known = await listKnownVisits(
    db,
    stopped.map(({ start }) => start),
  );
  return new Set(stopped.filter(({ start }) => !known.has(toVisitName(start))));
}

async function inOneTransaction<T>(db: Db, run: (transaction: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? await run(db) : await db.transaction().execute(run);
}

function prepareBatch(batch: Batch): (db: Db) => Promise<ResultRow> {
  if (batch.visits.length === 0) return async () => ({ open: [], created: [], new_steps: 0 });
  const parameters = PARAMETERS.map(({ read }) => read(batch));
  return async (db) => {
    if (engineOf(db) === "citus") return await recordInSteps(db, batch);
    const { rows } = await db.executeQuery<ResultRow>(CompiledQuery.raw(statementText.for(db), parameters));
    const [row] = rows;
    assert(row, "a select without from gives one row");
    return row;
  };
}

function listNewKeys(visits: readonly VisitPart[], knownKeys: KnownKeys | undefined, now: Date): NewKey[] {
  const listed = new Map<string, NewKey>();
  for (const { start, keys } of visits) {
    const { organizationId } = start;
    const known = knownKeys?.find(organizationId, now);
    for (const kind of KEY_KINDS) {
      const { id, digits } = keys[kind];
      if (known?.has(id)) continue;
      const name = organizationId + digits;
      const key = listed.get(name) ?? {
        organizationId,
        id,
        kind: toKindNumber(kind),
        key: toKey(kind, start),
        starts: [],
      };
      key.starts.push(start);
      listed.set(name, key);
    }
  }
  return [...listed.values()];
}

const statementText = new FixedText(statement);
