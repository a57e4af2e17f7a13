import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import type { Db } from "../../db/pool.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { TextLine } from "../../lib/text-lines.ts";
import { DayKeys } from "../record/day-keys.ts";
import { recordTouches } from "../record/record.ts";
import type { Touch } from "../record/touch.ts";
import { parseImportEvent } from "./parse-import-event.ts";
import { listKeysOfDays, listWidgetIds, lookUpTouches, lowerKeptSince } from "./queries.ts";

// The file is read twice: the first time to find what is wrong with it, the second to record it, a batch a transaction. One
// transaction for all of it would hold the counters of every day it touches, and whoever records meanwhile would wait for
// its end. Cut off in the middle, it is simply run again: an event that is there already is skipped.

/** Each takes some 50 ms, which is as long as recording on the same day may have to wait. */
const BATCH_EVENTS = 500;
/** Files are mostly in the order of time, so few days are in use at once. */
const DAYS_KEPT = 50;

type EventFile = {
  /** Reads the file from its beginning. */
  read: () => AsyncIterable<TextLine>;
  now: Date;
  progress: (stage: "checked" | "recorded", lines: number) => void;
};

export type EventImport =
  | { kind: "imported"; imported: number; skipped: number }
  /** Nothing was recorded. */
  | { kind: "refused"; line: number; fault: string }
  /** The second reading met another file than the first; the lines before this one are recorded. */
  | { kind: "changed"; line: number };

export async function importEvents(db: Db, owner: OrganizationId, file: EventFile): Promise<EventImport> {
  const widgets = await listWidgetIds(db, owner);

  let checked = 0;
  for await (const read of readEvents(file, widgets)) {
    if ("fault" in read) return { kind: "refused", ...read };
    checked += 1;
    file.progress("checked", read.line);
  }

  const recorder = new BatchRecorder(db, owner);
  let line = 0;
  for await (const read of readEvents(file, widgets)) {
    line = read.line;
    if ("fault" in read || recorder.added === checked) break;
    if (await recorder.add(read.touch)) file.progress("recorded", line);
  }
  await recorder.flush();
  if (recorder.oldest) await lowerKeptSince(db, owner, recorder.oldest);
  file.progress("recorded", line);
  const { added, imported, skipped } = recorder;
  return added === checked ? { kind: "imported", imported, skipped } : { kind: "changed", line };
}

type ReadEvent = { line: number; touch: Touch } | { line: number; fault: string };

/** The lines of the file that are not blank. */
async function* readEvents(
  file: Pick<EventFile, "read" | "now">,
  widgets: ReadonlySet<WidgetId>,
): AsyncGenerator<ReadEvent> {
  let line = 0;
  for await (const read of file.read()) {
    line += 1;
    if ("text" in read && read.text.trim() === "") continue;
    const parsed = "fault" in read ? read : parseImportEvent(read.text, file.now);
    if ("fault" in parsed) yield { line, ...parsed };
    else if (widgets.has(parsed.touch.widgetId)) yield { line, ...parsed };
    else yield { line, fault: "widgetId is not a widget of this organization" };
  }
}

class BatchRecorder {
  added = 0;
  imported = 0;
  skipped = 0;
  oldest: Date | null = null;
  readonly #db: Db;
  readonly #owner: OrganizationId;
  readonly #days = new RecentMap<string, DayKeys>(DAYS_KEPT);
  #batch: Touch[] = [];

  constructor(db: Db, owner: OrganizationId) {
    this.#db = db;
    this.#owner = owner;
  }

  /** True when that made a batch, and it was recorded. */
  async add(touch: Touch): Promise<boolean> {
    this.#batch.push(touch);
    this.added += 1;
    if (this.oldest === null || touch.at < this.oldest) this.oldest = touch.at;
    if (this.#batch.length < BATCH_EVENTS) return false;
    await this.flush();
    return true;
  }

  async flush(): Promise<void> {
    const given = this.#batch;
    this.#batch = [];
    const fresh = await this.#listNew(given);
    if (fresh.length > 0) await recordTouches(this.#db, fresh, "every");
    this.imported += fresh.length;
    this.skipped += given.length - fresh.length;
  }

  /** Those that neither the database nor an earlier line of the batch has, with the day's distinct keys limited. */
  async #listNew(given: readonly Touch[]): Promise<Touch[]> {
    if (given.length === 0) return [];
    const facts = await lookUpTouches(this.#db, this.#owner, given);
    const seen = new Set<string>();
    const fresh = given.flatMap((touch, index) => {
      const fact = facts[index];
      const name = `${touch.widgetId} ${touch.visitId} ${touch.at.getTime()} ${touch.steps}`;
      if (!fact || fact.is_recorded || seen.has(name)) return [];
      seen.add(name);
      return [{ touch, day: fact.day }];
    });
    const keys = await this.#findKeys(new Set(fresh.map(({ day }) => day)));
    return fresh.map(({ touch, day }) => ({ ...touch, ...keys.get(day)?.limit(touch) }));
  }

  async #findKeys(days: ReadonlySet<string>): Promise<Map<string, DayKeys>> {
    const found = new Map<string, DayKeys>();
    for (const day of days) {
      const known = this.#days.get(day);
      if (known) found.set(day, known);
    }
    const missing = [...days].filter((day) => !found.has(day));
    if (missing.length === 0) return found;
    const rows = await listKeysOfDays(this.#db, this.#owner, missing);
    const byDay = Map.groupBy(rows, (row) => row.day);
    for (const day of missing) {
      const keys = new DayKeys();
      keys.learn(byDay.get(day) ?? []);
      this.#days.set(day, keys);
      found.set(day, keys);
    }
    return found;
  }
}
