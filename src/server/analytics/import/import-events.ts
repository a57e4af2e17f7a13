import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { writeAtHome } from "../../db/home.ts";
import { OtherWork } from "../../db/other-work.ts";
import type { Db } from "../../db/pool.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { TextLine } from "../../lib/text/text-lines.ts";
import { toDayText } from "../../lib/time/zone-rules.ts";
import { KnownKeys } from "../record/known-keys.ts";
import { prepareTouches } from "../record/record.ts";
import type { Touch } from "../record/touch.ts";
import { showSince } from "../retention.ts";
import { DayKeys, listKeysOfDays, listWidgetIds } from "./day-keys.ts";
import { EventParser } from "./parse-import-event.ts";

// The file is read twice: first to check it, then to record it in one transaction per batch. A single transaction would
// keep packs from being made until its end. If the import is interrupted, it can
// simply run again: events that are already recorded are skipped.

/** A batch takes about 40 ms, which is how long recording on the same day may have to wait. */
const BATCH_EVENTS = 2_000;
/** Files are mostly in chronological order, so only a few days are in use at a time. */
const DAYS_KEPT = 50;

type EventFile = {
  /** Reads the file from its beginning. */
  read: () => AsyncIterable<readonly TextLine[]>;
  now: Date;
  /** The number of lines. */
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
      if (!recorder.add(read.touch)) continue;
      await recorder.flush();
      progress("recorded", line);
    }
  }
  return line;
}

type ReadEvent = { line: number; touch: Touch } | { line: number; fault: string };

/** The lines of the file that are not blank, block by block. */
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
      else if (widgets.has(parsed.touch.widgetId)) events.push({ line, touch: parsed.touch });
      else events.push({ line, fault: "widgetId is not a widget of this organization" });
    }
    yield events;
  }
}

/** How long this process worked on it, and what runs its statements. */
type PreparedBatch = { preparedMs: number; run: ReturnType<typeof prepareTouches> };

/** Records batches one after the other; the next is read and prepared while one is being recorded. */
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
  #batch: Touch[] = [];
  #underWay: Promise<void> = Promise.resolve();
  #daysUnderWay: ReadonlySet<number> = new Set();

  constructor(db: Db, owner: OrganizationId, { others, now }: { others: OtherWork; now: Date }) {
    this.#db = db;
    this.#owner = owner;
    this.#others = others;
    this.#now = now;
  }

  /** True if the batch is now complete. */
  add(touch: Touch): boolean {
    this.#batch.push(touch);
    this.added += 1;
    if (this.oldest === null || touch.at < this.oldest) this.oldest = touch.at;
    return this.#batch.length >= BATCH_EVENTS;
  }

  /** Prepares the batch while the previous one is being recorded, then waits for that one and starts this one. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    const days = batch.map((touch) => Math.floor(touch.at.getTime() / DAY_MS));
    const prepared = await this.#prepare(batch, days);
    await this.#underWay;
    this.#daysUnderWay = new Set(days);
    this.#underWay = this.#record(prepared);
    // The next await gets the error; until then it must not count as unhandled.
    this.#underWay.catch(() => {});
  }

  async finish(): Promise<void> {
    await this.flush();
    await this.#underWay;
  }

  async #prepare(batch: readonly Touch[], days: readonly number[]): Promise<PreparedBatch> {
    const keys = await this.#findKeys(new Set(days));
    const touches = batch.map((touch, i) => keys.get(days[i] ?? 0)?.limit(touch) ?? touch);
    const options = { includePaused: true, now: this.#now, knownKeys: this.#knownKeys };
    const startedAt = performance.now();
    const run = prepareTouches(touches, options);
    return { preparedMs: performance.now() - startedAt, run };
  }

  async #record({ preparedMs, run }: PreparedBatch): Promise<void> {
    await this.#others.giveWay(this.#db, { stepMs: this.#lastStepMs });
    const startedAt = performance.now();
    const { newSteps } = await writeAtHome(this.#db, this.#owner, run);
    this.imported += newSteps;
    const recordedMs = performance.now() - startedAt;
    this.#others.addOwn(recordedMs);
    // Both take processor time from others.
    this.#lastStepMs = preparedMs + recordedMs;
  }

  async #findKeys(days: ReadonlySet<number>): Promise<Map<number, DayKeys>> {
    const found = new Map<number, DayKeys>();
    for (const day of days) {
      const known = this.#days.get(day);
      if (known) found.set(day, known);
    }
    const missing = [...days].filter((day) => !found.has(day));
    if (missing.length === 0) return found;
    // The visits of the batch under way are not recorded yet.
    if (missing.some((day) => this.#daysUnderWay.has(day))) await this.#underWay;
    const byDay = Map.groupBy(await listKeysOfDays(this.#db, this.#owner, missing.map(toDayText)), (row) => row.day);
    for (const day of missing) {
      const keys = new DayKeys(byDay.get(toDayText(day)) ?? []);
      this.#days.set(day, keys);
      found.set(day, keys);
    }
    return found;
  }
}
