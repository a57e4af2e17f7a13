import type { RawBuilder } from "kysely";
import {
  type AppAnalytics,
  type AppList,
  HOURLY_DAYS_MAX,
  LIST_ROWS_MAX,
  LISTED_DIMENSIONS,
  type ListedDimension,
} from "#contract/app/analytics.ts";
import type { Dimension } from "#contract/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import type { Plan } from "#contract/plans.ts";
import type { Deps } from "../deps.ts";
import type { Query } from "../http/parameters.ts";
import { addDays } from "../lib/calendar.ts";
import { toKeptSince } from "../plans/kept-since.ts";
import { type DayWindow, readComparison, type readDayWindow, readPeriod } from "./app-window.ts";
import { toShownKey } from "./dimension-keys.ts";
import { type Filter, findCountedWidget, readFilters, requireFilterWidgets } from "./filters.ts";
import { type KeyList, selectLists } from "./lists.ts";
import {
  type CountedWindow,
  countDrops,
  type DayCounts,
  type ReportCounts,
  selectDataRange,
  selectDays,
  selectReport,
} from "./queries.ts";
import { fillDays, toDayReport, toEntry } from "./report.ts";
import { countVisits, type Scan } from "./scan/count-visits.ts";
import type { TimeOfDay } from "./scan/local-window.ts";
import { toDayCounts, toHours } from "./scan/to-counts.ts";
import type { VisitCounts } from "./scan/visit-counts.ts";

// A report for the dashboard. Without filters, or for one widget, everything but hours and parts of days comes from the
// counters; with other filters it comes from the visits, which packs hold in few bytes (funnel/packs/).

type Reader = { organizationId: OrganizationId; plan: Plan };

/** Who asks, when, and for what. */
export type Question = {
  owner: OrganizationId;
  now: Date;
  keptSince: Date;
  filters: readonly Filter[];
  /** A condition on funnel_visits that visits must meet to be counted. The counters can't apply it. */
  visitCondition?: RawBuilder<unknown>;
  window: DayWindow;
  timeZone: string;
  today: string;
  timeMs: TimeOfDay;
  dataSince: string | null;
};

type AnalyticsDeps = Pick<Deps, "db" | "clock">;

/** Throws 400 if the query is invalid, and then 404 if a widget is unknown. */
export async function readQuestion(
  { db, clock }: AnalyticsDeps,
  reader: Reader,
  query: Query,
  readWindow: typeof readDayWindow = readPeriod,
): Promise<Question> {
  const owner = reader.organizationId;
  const filters = readFilters(query);
  const now = clock.now();
  const keptSince = toKeptSince(reader.plan, now);
  const range = await selectDataRange(db, owner, { now, keptSince, widgetId: findCountedWidget(filters) ?? null });
  const window = readWindow(query, range.today);
  await requireFilterWidgets(db, owner, filters);
  return {
    owner,
    now,
    keptSince,
    filters,
    window,
    timeZone: range.zone,
    today: range.today,
    timeMs: range.time_ms,
    dataSince: range.data_since,
  };
}

export async function readReport(deps: AnalyticsDeps, reader: Reader, query: Query): Promise<AppAnalytics> {
  const question = await readQuestion(deps, reader, query);
  return await answerQuestion(deps, question, readComparison(query, question.window));
}

/** `before` is the window to compare with. */
export async function answerQuestion(
  deps: AnalyticsDeps,
  question: Question,
  before: DayWindow | null,
): Promise<AppAnalytics> {
  const { owner, window, dataSince, filters } = question;
  const dropScope = { ...window, widgetId: findCountedWidget(filters) ?? null };
  const [{ counts, hourly }, previous, droppedEvents] = await Promise.all([
    readCounts(deps, question),
    before && readPrevious(deps, question, before),
    countDrops(deps.db, owner, dropScope),
  ]);
  const lists = toLists(counts.lists);
  return {
    ...toDayReport(counts, window),
    channels: lists.channel.rows.slice(0, CHANNELS_MAX),
    sources: lists.source.rows.slice(0, SOURCES_MAX),
    campaigns: lists.campaign.rows.slice(0, CAMPAIGNS_MAX),
    from: window.from,
    to: window.to,
    now: `${question.today}T${toTimeText(question.timeMs)}`,
    hourly,
    lists,
    previous,
    dataSince,
    droppedEvents,
  };
}

/** Partial days are compared with the same part of the earlier day. */
async function readPrevious(
  deps: AnalyticsDeps,
  question: Question,
  before: DayWindow,
): Promise<NonNullable<AppAnalytics["previous"]>> {
  const { window, today, timeMs, dataSince } = question;
  const untilTime = window.to === today && before.to < today ? timeMs : undefined;
  const { counts, hourly } = await readDays(deps, question, { window: before, untilTime });
  return {
    from: before.from,
    to: before.to,
    untilTime: untilTime === undefined ? null : toTimeText(untilTime),
    totals: toDayReport(counts, before).totals,
    daily: fillDays(counts.days, before),
    hourly,
    isComplete: dataSince !== null && before.from >= dataSince,
  };
}

/** The window's counts, and those of its hours if it is short enough. */
async function readCounts(
  { db }: AnalyticsDeps,
  question: Question,
): Promise<{ counts: ReportCounts; hourly: AppAnalytics["hourly"] }> {
  const { owner, window } = question;
  const counted = toCountedWindow(question, window);
  if (counted)
    return {
      counts: await selectReport(db, owner, { ...counted, rowsMax: LIST_ROWS_MAX }),
      hourly: isHourly(window) ? (await scan(db, question, window)).hourly : null,
    };
  const { counts, totals, hourly } = await scan(db, question, window, { lists: LISTED_DIMENSIONS });
  return { counts: { ...counts, lists: await selectLists(db, owner, { totals, rowsMax: LIST_ROWS_MAX }) }, hourly };
}

/** Whole days come from the counters where they can, and the part of the last day from its visits. */
async function readDays(
  { db }: AnalyticsDeps,
  question: Question,
  { window, untilTime }: { window: DayWindow; untilTime: TimeOfDay | undefined },
): Promise<{ counts: DayCounts; hourly: AppAnalytics["hourly"] }> {
  const { owner } = question;
  const counted = toCountedWindow(question, window);
  if (!counted || isHourly(window)) return await scan(db, question, window, { untilTime });
  if (untilTime === undefined) return { counts: await selectDays(db, owner, counted), hourly: null };
  const lastDay = await scan(db, question, { from: window.to, to: window.to, days: 1 }, { untilTime });
  const others = { ...counted, days: window.days - 1, lastDay: addDays(window.to, -1) };
  return { counts: addCounts(await selectDays(db, owner, others), lastDay.counts), hourly: null };
}

/** Counts the visits. */
async function scan(
  db: Deps["db"],
  question: Question,
  window: DayWindow,
  { lists = [], untilTime }: { lists?: readonly Dimension[]; untilTime?: TimeOfDay | undefined } = {},
): Promise<{ counts: DayCounts; totals: VisitCounts["lists"]; hourly: AppAnalytics["hourly"] }> {
  const { window: local, counts } = await countVisits(db, toScan(question, window, untilTime), { lists });
  return {
    counts: toDayCounts(counts, { zone: local.zone, today: window.to }),
    totals: counts.lists,
    hourly: isHourly(window) ? toHours(counts) : null,
  };
}

function isHourly({ days }: DayWindow): boolean {
  return days <= HOURLY_DAYS_MAX;
}

/** What the counters are asked for; null if only the visits can answer. */
export function toCountedWindow(question: Question, { days, to }: DayWindow): CountedWindow | null {
  const widgetId = findCountedWidget(question.filters);
  return widgetId === undefined || question.visitCondition
    ? null
    : { days, lastDay: to, now: question.now, keptSince: question.keptSince, widgetId };
}

export function toScan(
  { owner, keptSince, filters, visitCondition }: Question,
  { from, to }: DayWindow,
  untilTime?: TimeOfDay,
): Scan {
  return { owner, filters, condition: visitCondition, days: { from, to, keptSince, untilTime } };
}

function addCounts(a: DayCounts, b: DayCounts): DayCounts {
  return {
    zone: b.zone,
    today: b.today,
    days: [...a.days, ...b.days],
    reached: a.reached.map((count, i) => count + (b.reached[i] ?? 0)),
    bookings: a.bookings + b.bookings,
    failed: a.failed + b.failed,
    no_availability: a.no_availability + b.no_availability,
    lead_ms: a.lead_ms + b.lead_ms,
    lead_count: a.lead_count + b.lead_count,
  };
}

function toLists(lists: readonly KeyList[]): Record<ListedDimension, AppList> {
  const named = LISTED_DIMENSIONS.map((dimension, i) => [dimension, toList(lists[i])] as const);
  return Object.fromEntries(named) as Record<ListedDimension, AppList>;
}

function toList(list: KeyList = { rows: [], count: 0 }): AppList {
  return { rows: list.rows.map((row) => toEntry({ ...row, key: toShownKey(row.key) })), count: list.count };
}

function toTimeText(ms: TimeOfDay): string {
  return new Date(ms).toISOString().slice("1970-01-01T".length, "1970-01-01T12:00".length);
}
