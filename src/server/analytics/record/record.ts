import type { Db } from "../../db/connections/pool.ts";
import { atHomes, type Part, runTogether } from "../../db/home.ts";
import { toArrayText } from "../../db/statements/array-text.ts";
import { toBatchValues } from "../../db/statements/batch-rows.ts";
import { assert } from "../../lib/assert.ts";
import type { Hit } from "./hit.ts";
import { KEY_KINDS, type NewKey, toKey, toKeyName, toKindNumber } from "./key-id.ts";
import type { KnownKeys } from "./known-keys.ts";
import { mergeHits, type VisitPart } from "./merge-hits.ts";
import { KEY_COLUMNS, type Recorded, recordAndName, recordOnly, VISIT_COLUMNS } from "./record-statement.ts";

// Records hits with one statement for each home (record-statement.ts).

type RecordOptions = {
  /** Hits of paused widgets count too. */
  includePaused?: boolean;
  /** Required for hits in the past. */
  now?: Date;
  /** Avoids sending keys that are already stored. Use it only outside a transaction: what it learns must be committed. */
  knownKeys?: KnownKeys;
};

/** Hits may belong to several organizations. */
export async function recordHits(db: Db, hits: readonly Hit[], options: RecordOptions = {}): Promise<void> {
  await atHomes(db, hits, ({ writer }, rows) => recordAtHome(writer, rows, options));
}

/** At least one hit, all of organizations with this home. */
export async function recordAtHome(db: Db, hits: readonly Hit[], options: RecordOptions): Promise<Recorded> {
  const { statement, values, learn } = toRecording(hits, options);
  return learn(await statement.run(db, values));
}

/** At homes on one server, in one transaction. */
export async function recordTogether(parts: readonly Part<Hit>[], options: RecordOptions): Promise<Recorded[]> {
  const recordings = parts.map(({ home, rows }) => ({ home, ...toRecording(rows, options) }));
  const recorded = await runTogether<Recorded>(
    recordings.map(({ home, statement, values }) => ({ home, ...statement.compile(home.writer, values) })),
  );
  return recordings.map(({ learn }, n) => learn(recorded[n] ?? []));
}

function toRecording(hits: readonly Hit[], { includePaused = false, knownKeys, ...options }: RecordOptions) {
  const now = options.now ?? new Date(Math.max(...hits.map((hit) => hit.at.getTime())));
  const visits = mergeHits(hits);
  const newKeys = listNewKeys(visits, knownKeys, now);
  const values = {
    ...toBatchValues(VISIT_COLUMNS, visits),
    owners: toArrayText([...new Set(visits.map(({ start }) => start.organizationId))]),
    widgets: toArrayText([...new Set(visits.map(({ start }) => start.widgetId))]),
    include_paused: String(includePaused),
  };
  return {
    ...(newKeys.length === 0
      ? { statement: recordOnly, values }
      : {
          statement: recordAndName,
          values: { ...values, ...toBatchValues(KEY_COLUMNS, newKeys), day: now.toISOString() },
        }),
    learn([recorded]: readonly Recorded[]): Recorded {
      assert(recorded, "a select without from gives one row");
      const used = new Set(recorded.used);
      for (const key of newKeys) if (used.has(toKeyName(key))) knownKeys?.add(key.organizationId, key.id, now);
      return recorded;
    },
  };
}

/** Those that this process hasn't seen stored today. */
function listNewKeys(visits: readonly VisitPart[], knownKeys: KnownKeys | undefined, now: Date): NewKey[] {
  const listed = new Map<string, NewKey>();
  for (const { start, keys } of visits) {
    const { organizationId } = start;
    const known = knownKeys?.find(organizationId, now);
    for (const kind of KEY_KINDS) {
      const { id } = keys[kind];
      if (known?.has(id)) continue;
      const key = { organizationId, id, kind: toKindNumber(kind), key: toKey(kind, start) };
      listed.set(toKeyName(key), key);
    }
  }
  return [...listed.values()];
}
