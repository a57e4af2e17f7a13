import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { OtherWork } from "../../db/connections/other-work.ts";
import type { Db } from "../../db/connections/pool.ts";
import { writeAtHome } from "../../db/home.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { TextLine } from "../../lib/text/text-lines.ts";
import { toDayText } from "../../lib/time/zone-rules.ts";
import { showSince } from "../delete-visits.ts";
import { type CappedKey, listUnknownKeys, toOther } from "../record/capped-keys.ts";
import type { Hit, VisitFacts } from "../record/hit.ts";
import { KnownKeys } from "../record/known-keys.ts";
import { recordAtHome } from "../record/record.ts";
import { EventParser } from "./parse-import-event.ts";
import { listKeysOfDays, listWidgetIds } from "./queries.ts";

// The file is read twice: first to check it, then to record it in one transaction per batch. A single transaction would
// keep packs from being made until its end. If the import is interrupted, it can simply run again: events that are already recorded
// are skipped.

/** A batch takes about 40 ms, which is how long recording on the same day may have to wait. */
const BATCH_EVENTS = 2_000;
/** Files are mostly in chronological order, so only a few days are in use at a time. */
const DAYS_KEPT = 50;

type EventFile = {
  /** Reads the file from its beginning. */
  read: () => AsyncIterable<readonly TextLine[]>;
  now: Date;
  progress: (stage: "checked" | "recorded", count: number) => unknown;
};

export type EventImport =
  | { kind: "imported"; imported: number; skipped: number }
  /** Nothing was recorded. */
  | { kind: "refused"; line: number; fault: string }
  /** The file changed between the two readings; the lines before this one are recorded. */
  | { kind: "changed"; line: number };

export async function importEvents(db: Db, owner: OrganizationId, file: EventFile): Promise<EventImport> {
  const source = { ...file, owner, widgets: await listWidgetIds(db, owner), parser: new EventParser() };
  // Starts to measure now, so that recording already knows whether others are at work.
  const others = new OtherWork();
  await others.isBusy(db);

  let checked = 0;
  for await (const block of readEvents(source)) {
    for (const read of block) {
      if ("fault" in read) return { kind: "refused", ...read };
      checked += 1;
      file.progress("checked", read.line);
    }
  }

  const recorder = new BatchRecorder(db, owner, { others, now: file.now });
  let line = 0;
  try {
    line = await recordEvents(recorder, readEvents(source), { checked, progress: file.progress });
  } finally {
    await recorder.finish();
  }
  file.progress("recorded", line);
  if (recorder.oldest) await showSince(db, owner, recorder.oldest);
  const { added, imported } = recorder;
  return added === checked ? { kind: "imported", imported, skipped: added - imported } : { kind: "changed", line };
}

/** Records as many events as were checked, or up to a fault. Returns the last line that was read. */
async function recordEvents(
  recorder: BatchRecorder,
  blocks: AsyncIterable<readonly ReadEvent[]>,
  { checked, progress }: { checked: number; progress: EventFile["progress"] },
): Promise<number> {
  let line = 0;
  for await (const block of blocks) {
    for (const read of block) {
      line = read.line;
      if ("fault" in read || recorder.added === checked) return line;
      if (!recorder.add(read.hit)) continue;
      await recorder.flush();
      progress("recorded", line);
    }
  }
  return line;
}

type ReadEvent = { line: number; hit: Hit } | { line: number; fault: string };

async function* readEvents({
  read,
  now,
  owner,
  widgets,
  parser,
}: Pick<EventFile, "read" | "now"> & {
  owner: OrganizationId;
  widgets: ReadonlySet<WidgetId>;
  parser: EventParser;
}): AsyncGenerator<ReadEvent[]> {
  let line = 0;
  for await (const block of read()) {
    const events: ReadEvent[] = [];
    for (const text of block) {
      line += 1;
      if ("text" in text && text.text.trim() === "") continue;
      const parsed = "fault" in text ? text : parser.parse(text.text, { owner, now });
      if ("fault" in parsed) events.push({ line, fault: parsed.fault });
      else if (widgets.has(parsed.hit.widgetId)) events.push({ line, hit: parsed.hit });
      else events.push({ line, fault: "widgetId is not a widget of this organization" });
    }
    yield events;
  }
}

/** Collects events, and records them batch by batch. */
class BatchRecorder {
  added = 0;
  /** New steps, bookings and failed attempts. */
  imported = 0;
  oldest: Date | null = null;
  readonly #db: Db;
  readonly #owner: OrganizationId;
  readonly #now: Date;
  readonly #days = new RecentMap<number, DayKeys>(DAYS_KEPT);
  readonly #knownKeys = new KnownKeys();
  readonly #others: OtherWork;
  #lastStepMs = 0;
  #batch: Hit[] = [];
  #underWay: Promise<void> = Promise.resolve();

  constructor(db: Db, owner: OrganizationId, { others, now }: { others: OtherWork; now: Date }) {
    this.#db = db;
    this.#owner = owner;
    this.#others = others;
    this.#now = now;
  }

  /** True if the batch is now complete. */
  add(hit: Hit): boolean {
    this.#batch.push(hit);
    this.added += 1;
    if (this.oldest === null || hit.at < this.oldest) this.oldest = hit.at;
    return this.#batch.length >= BATCH_EVENTS;
  }

  /** Waits for the previous batch. The caller reads on while this one is being recorded. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    await this.#underWay;
    this.#underWay = this.#record(batch);
    // The next await gets the error; until then it must not count as unhandled.
    this.#underWay.catch(() => {});
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.#underWay;
  }

  async #record(batch: readonly Hit[]): Promise<void> {
    if (batch.length === 0) return;
    await this.#others.giveWay(this.#db, { stepMs: this.#lastStepMs });
    const startedAt = performance.now();
    const hits = await this.#limitKeys(batch);
    const recordedAt = performance.now();
    const options = { includePaused: true, now: this.#now, knownKeys: this.#knownKeys };
    const recorded = await writeAtHome(this.#db, this.#owner, (home) => recordAtHome(home, hits, options));
    this.imported += recorded.new_steps;
    this.#others.addOwn(performance.now() - recordedAt);
    this.#lastStepMs = performance.now() - startedAt;
  }

  async #limitKeys(batch: readonly Hit[]): Promise<Hit[]> {
    const days = batch.map(({ at }) => Math.floor(at.getTime() / DAY_MS));
    const keys = new Map([...new Set(days)].map((day) => [day, this.#days.get(day)]));
    const missing = [...keys].flatMap(([day, known]) => (known ? [] : [day]));
    const stored = missing.length === 0 ? [] : await listKeysOfDays(this.#db, this.#owner, missing.map(toDayText));
    const byDay = Map.groupBy(stored, ({ day }) => day);
    for (const day of missing) {
      const ofDay = new DayKeys(byDay.get(toDayText(day)) ?? []);
      keys.set(day, ofDay);
      this.#days.set(day, ofDay);
    }
    return batch.map((hit, i) => keys.get(days[i] as number)?.limit(hit) ?? hit);
  }
}

/** Per kind. */
const KEYS_PER_DAY_MAX = 1_000;

/** The distinct keys of the visits on one day (UTC). The same file must give the same keys each time. */
class DayKeys {
  readonly #known = { source: new Set<number>(), campaign: new Set<number>(), page: new Set<number>() };

  /** Keys of visits that are already recorded; they stay, however many there are. */
  constructor(keys: Iterable<CappedKey>) {
    for (const { kind, id } of keys) this.#known[kind].add(id);
  }

  /** The visit as it may be recorded; new keys get a place while there are any left. */
  limit<Visit extends VisitFacts>(visit: Visit): Visit {
    const refused = listUnknownKeys(visit, (kind, id) => this.#known[kind].has(id)).filter(({ kind, id }) => {
      if (this.#known[kind].size >= KEYS_PER_DAY_MAX) return true;
      this.#known[kind].add(id);
      return false;
    });
    return toOther(visit, refused);
  }
}
