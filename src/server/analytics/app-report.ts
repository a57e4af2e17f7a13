import type { RawBuilder } from "kysely";
import {
  type AppAnalytics,
  type AppList,
  HOURLY_DAYS_MAX,
  LIST_ROWS_MAX,
  LISTED_DIMENSIONS,
  type ListedDimension,
} from "#contract/app/analytics.ts";
import { HOUR_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import type { Plan } from "#contract/plans.ts";
import type { Deps } from "../deps.ts";
import type { Query } from "../http/parameters.ts";
import { addDays } from "../lib/calendar.ts";
import { toKeptSince } from "../plans/kept-since.ts";
import { type DayWindow, readComparison, type readDayWindow, readPeriod } from "./app-window.ts";
import { estimateShare } from "./estimate-share.ts";
import { type Filter, findCountedWidget, readFilters, requireFilterWidgets } from "./filters.ts";
import type { KeyList } from "./lists.ts";
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
import { type LocalWindow, resolveWindow, type TimeOfDay, toDayText } from "./scan/local-window.ts";
import { type HourCounts, type ScannedDays, scanDays, scanHours, scanReport } from "./scan/report-queries.ts";
import { type Scan, toShownKey, withScanSettings } from "./scan/visit-scan.ts";

// A report for the dashboard. Without filters, or for one widget, everything but hours and parts of days comes from the
// counters; with other filters it comes from the visits.

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
  const counts = await readCounts(deps, question);
  const lists = toLists(counts.lists);
  return {
    ...toDayReport(counts, window),
    channels: lists.channel.rows.slice(0, CHANNELS_MAX),
    sources: lists.source.rows.slice(0, SOURCES_MAX),
    campaigns: lists.campaign.rows.slice(0, CAMPAIGNS_MAX),
    from: window.from,
    to: window.to,
    now: `${question.today}T${toTimeText(question.timeMs)}`,
    hourly: await readHours(deps, question, window),
    lists,
    previous: before && (await readPrevious(deps, question, before)),
    dataSince,
    droppedEvents: await countDrops(deps.db, owner, { ...window, widgetId: findCountedWidget(filters) ?? null }),
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
  const counts = await readDays(deps, question, before, untilTime);
  return {
    from: before.from,
    to: before.to,
    untilTime: untilTime === undefined ? null : toTimeText(untilTime),
    totals: toDayReport(counts, before).totals,
    daily: fillDays(counts.days, before),
    hourly: await readHours(deps, question, before, untilTime),
    isComplete: dataSince !== null && before.from >= dataSince,
  };
}

async function readCounts({ db }: AnalyticsDeps, question: Question): Promise<ReportCounts> {
  const { owner, window } = question;
  const counted = toCountedWindow(question, window);
  if (counted) return await selectReport(db, owner, { ...counted, rowsMax: LIST_ROWS_MAX });
  const local = await resolve(db, question, window);
  const base = await findBase(db, question);
  const {
    lists,
    base: all,
    ...days
  } = await withScanSettings(db, (transaction) =>
    scanReport(transaction, toScan(question, local), { rowsMax: LIST_ROWS_MAX, base }),
  );
  const counts = toCounts(days, local, window);
  return { ...(all ? addCounts(all, counts, -1) : counts), lists };
}

/** What the counters are asked for if more than half of the visits match; null if fewer do. */
async function findBase(db: Deps["db"], question: Question): Promise<CountedWindow | null> {
  const { owner, filters } = question;
  if (filters.some(({ dimension }) => dimension === "service")) return null;
  const all = toCountedWindow({ ...question, filters: [] }, question.window);
  if (!all) return null;
  const share = await estimateShare(db, owner, { window: all, filters });
  return share > HALF ? all : null;
}

const HALF = 0.5;

/** Whole days come from the counters where they can, and the part of the last day from its visits. */
async function readDays(
  { db }: AnalyticsDeps,
  question: Question,
  window: DayWindow,
  untilTime?: TimeOfDay,
): Promise<DayCounts> {
  const { owner } = question;
  const scan = async (part: DayWindow) => {
    const local = await resolve(db, question, part, untilTime);
    const days = await withScanSettings(db, (each) => scanDays(each, toScan(question, local)));
    return toCounts(days, local, part);
  };
  const counted = toCountedWindow(question, window);
  if (!counted) return await scan(window);
  if (untilTime === undefined) return await selectDays(db, owner, counted);
  const lastDay = await scan({ from: window.to, to: window.to, days: 1 });
  if (window.days === 1) return lastDay;
  const others = { ...counted, days: window.days - 1, lastDay: addDays(window.to, -1) };
  return addCounts(await selectDays(db, owner, others), lastDay, 1);
}

async function readHours(
  { db }: AnalyticsDeps,
  question: Question,
  window: DayWindow,
  untilTime?: TimeOfDay,
): Promise<AppAnalytics["hourly"]> {
  if (window.days > HOURLY_DAYS_MAX) return null;
  const local = await resolve(db, question, window, untilTime);
  const hours = await withScanSettings(db, (transaction) => scanHours(transaction, toScan(question, local)));
  return hours.map(toHourEntry);
}

/** What the counters are asked for; null if only the visits can answer. */
export function toCountedWindow(question: Question, { days, to }: DayWindow): CountedWindow | null {
  const widgetId = findCountedWidget(question.filters);
  return widgetId === undefined || question.visitCondition
    ? null
    : { days, lastDay: to, now: question.now, keptSince: question.keptSince, widgetId };
}

function toScan({ owner, filters, visitCondition }: Question, window: LocalWindow): Scan {
  return { owner, window, filters, visitCondition };
}

export async function resolve(
  db: Deps["db"],
  { owner, keptSince }: Question,
  { from, to }: DayWindow,
  untilTime?: TimeOfDay,
): Promise<LocalWindow> {
  return await resolveWindow(db, owner, { from, to, keptSince, ...(untilTime === undefined ? {} : { untilTime }) });
}

function toCounts(scanned: ScannedDays, { zone }: LocalWindow, { to }: DayWindow): DayCounts {
  const days = new Map<number, { day: string; views: number; bookings: number }>();
  const add = (numbers: readonly number[], counts: readonly number[], name: "views" | "bookings") =>
    numbers.forEach((number, i) => {
      const entry = days.get(number) ?? { day: toDayText(number), views: 0, bookings: 0 };
      days.set(number, { ...entry, [name]: counts[i] ?? 0 });
    });
  add(scanned.view_days, scanned.day_views, "views");
  add(scanned.booking_days, scanned.day_bookings, "bookings");
  return {
    zone,
    today: to,
    days: [...days.values()],
    reached: scanned.reached,
    bookings: scanned.day_bookings.reduce((sum, count) => sum + count, 0),
    failed: scanned.failed,
    no_availability: scanned.no_availability,
    lead_ms: scanned.lead_ms,
    lead_count: scanned.lead_count,
  };
}

/** The sum, or the difference if `sign` is -1. */
function addCounts(a: DayCounts, b: DayCounts, sign: 1 | -1): DayCounts {
  const others = new Map(b.days.map((entry) => [entry.day, entry]));
  const known = new Set(a.days.map(({ day }) => day));
  const days = [
    ...a.days,
    ...b.days.filter(({ day }) => !known.has(day)).map(({ day }) => ({ day, views: 0, bookings: 0 })),
  ];
  return {
    zone: b.zone,
    today: b.today,
    days: days.map(({ day, views, bookings }) => ({
      day,
      views: views + sign * (others.get(day)?.views ?? 0),
      bookings: bookings + sign * (others.get(day)?.bookings ?? 0),
    })),
    reached: a.reached.map((count, i) => count + sign * (b.reached[i] ?? 0)),
    bookings: a.bookings + sign * b.bookings,
    failed: a.failed + sign * b.failed,
    no_availability: a.no_availability + sign * b.no_availability,
    lead_ms: a.lead_ms + sign * b.lead_ms,
    lead_count: a.lead_count + sign * b.lead_count,
  };
}

function toLists(lists: readonly KeyList[]): Record<ListedDimension, AppList> {
  const named = LISTED_DIMENSIONS.map((dimension, i) => [dimension, toList(lists[i])] as const);
  return Object.fromEntries(named) as Record<ListedDimension, AppList>;
}

function toList(list: KeyList = { rows: [], count: 0 }): AppList {
  return { rows: list.rows.map((row) => toEntry({ ...row, key: toShownKey(row.key) })), count: list.count };
}

function toHourEntry({ hour, views, bookings }: HourCounts) {
  return { hour: new Date(hour * HOUR_MS).toISOString().slice(0, "2026-11-01T13".length), views, bookings };
}

function toTimeText(ms: TimeOfDay): string {
  return new Date(ms).toISOString().slice("1970-01-01T".length, "1970-01-01T12:00".length);
}
