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
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { CAMPAIGNS_MAX, CHANNELS_MAX, SOURCES_MAX } from "#contract/limits.ts";
import type { Plan } from "#contract/plans.ts";
import type { Deps } from "../deps.ts";
import type { Query } from "../http/parameters.ts";
import { addDays } from "../lib/time/calendar.ts";
import { toLocalDay, toTimeOfDayMs, type ZoneRules } from "../lib/time/zone-rules.ts";
import { toKeptSince } from "../plans/kept-since.ts";
import { type DayWindow, readComparison, readPeriod, type Today } from "./app-window.ts";
import { toShownKey } from "./dimension-keys.ts";
import { type Filter, findCountedWidget, readFilters, requireFilterWidgets, toWidgetFilters } from "./filters.ts";
import { type KeyList, selectLists } from "./lists.ts";
import {
  type CountedWindow,
  countDrops,
  type DayCounts,
  type ReportCounts,
  selectDataSince,
  selectDays,
  selectReport,
} from "./queries.ts";
import { fillDays, toDayReport, toEntry } from "./report.ts";
import { countVisits, type Scan } from "./scan/count-visits.ts";
import { type TimeOfDay, toLocalWindow } from "./scan/local-window.ts";
import { toDayCounts, toHours } from "./scan/to-counts.ts";
import type { VisitCounts } from "./scan/visit-counts.ts";
import { findShownZone } from "./shown-zone.ts";

// A report for the dashboard. Without filters, or for one widget, everything but hours and parts of days comes from the
// counters; with other filters it comes from the visits, which packs hold in few bytes (funnel/packs/), and so does everything
// while the counters are of another time zone. A report is in one zone as a whole: the one found when the question is read.

/** `signal` is aborted when they have left. */
export type Reader = { organizationId: OrganizationId; plan: Plan; signal?: AbortSignal };

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
  rules: ZoneRules;
  today: string;
  signal: AbortSignal | undefined;
};

type AnalyticsDeps = Pick<Deps, "db" | "clock">;

/** Throws 400 if the query is invalid, and then 404 if a widget is unknown. */
export async function readQuestion(
  { db, clock }: AnalyticsDeps,
  reader: Reader,
  query: Query,
  readWindow: (query: Query, today: Today) => DayWindow | Promise<DayWindow> = readPeriod,
): Promise<Question> {
  const owner = reader.organizationId;
  const filters = readFilters(query);
  const now = clock.now();
  const keptSince = toKeptSince(reader.plan, now);
  const { zone: timeZone, rules } = await findShownZone(db, owner);
  const today = toLocalDay(rules, now);
  const asked = { owner, now, keptSince, filters, timeZone, rules, today, signal: reader.signal };
  const window = await readWindow(query, { today, findDataSince: () => readDataSince(db, asked, null) });
  await requireFilterWidgets(db, owner, filters);
  return { ...asked, window };
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
  const { owner, now, window, rules, today, filters } = question;
  const drops = { ...toLocalWindow(rules, window), widgetId: findCountedWidget(filters) ?? null };
  const [{ counts, hourly }, previous, dataSince, droppedEvents] = await Promise.all([
    readCounts(deps, question),
    before && readPrevious(deps, question, before),
    readDataSince(deps.db, question, findCountedWidget(filters) ?? null),
    countDrops(deps.db, owner, drops),
  ]);
  const lists = toLists(counts.lists);
  return {
    ...toDayReport(counts, window),
    channels: lists.channel.rows.slice(0, CHANNELS_MAX),
    sources: lists.source.rows.slice(0, SOURCES_MAX),
    campaigns: lists.campaign.rows.slice(0, CAMPAIGNS_MAX),
    from: window.from,
    to: window.to,
    now: `${today}T${toTimeText(toTimeOfDayMs(rules, now))}`,
    hourly,
    lists,
    previous: previous && { ...previous, isComplete: dataSince !== null && previous.from >= dataSince },
    dataSince,
    droppedEvents,
  };
}

/** The first day with data of a widget, or of all; null before the first view. */
async function readDataSince(
  db: Deps["db"],
  { owner, keptSince, timeZone: zone, rules, today, signal }: Omit<Question, "window">,
  widgetId: WidgetId | null,
): Promise<string | null> {
  const counted = await selectDataSince(db, owner, { zone, keptSince, widgetId });
  if (counted !== undefined) return counted;
  const oldestDay = toLocalDay(rules, keptSince);
  const filters = toWidgetFilters(widgetId);
  const days = { from: oldestDay, to: today };
  const counts = await countVisits(db, { owner, rules, days, oldestDay, filters, signal });
  return toDayCounts(counts, { zone, today }).days[0]?.day ?? null;
}

/** Partial days are compared with the same part of the earlier day. */
async function readPrevious(
  deps: AnalyticsDeps,
  question: Question,
  before: DayWindow,
): Promise<Omit<NonNullable<AppAnalytics["previous"]>, "isComplete">> {
  const { window, now, rules, today } = question;
  const untilTime = window.to === today && before.to < today ? toTimeOfDayMs(rules, now) : undefined;
  const { counts, hourly } = await readDays(deps, question, { window: before, untilTime });
  return {
    from: before.from,
    to: before.to,
    untilTime: untilTime === undefined ? null : toTimeText(untilTime),
    totals: toDayReport(counts, before).totals,
    daily: fillDays(counts.days, before),
    hourly,
  };
}

/** The window's counts, and those of its hours if it is short enough. */
async function readCounts(
  { db }: AnalyticsDeps,
  question: Question,
): Promise<{ counts: ReportCounts; hourly: AppAnalytics["hourly"] }> {
  const { owner, window } = question;
  const counted = toCountedWindow(question, window);
  const report = counted && (await selectReport(db, owner, { ...counted, rowsMax: LIST_ROWS_MAX }));
  if (report) return { counts: report, hourly: isHourly(window) ? (await scan(db, question, window)).hourly : null };
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
  const counted = isHourly(window) ? null : toCountedWindow(question, window);
  const isPartial = untilTime !== undefined;
  const wholeDays = isPartial ? { days: window.days - 1, lastDay: addDays(window.to, -1) } : {};
  const counts = counted && (await selectDays(db, owner, { ...counted, ...wholeDays }));
  if (!counts) return await scan(db, question, window, { untilTime });
  if (!isPartial) return { counts, hourly: null };
  const lastDay = await scan(db, question, { from: window.to, to: window.to, days: 1 }, { untilTime });
  return { counts: addCounts(counts, lastDay.counts), hourly: null };
}

/** Counts the visits. */
async function scan(
  db: Deps["db"],
  question: Question,
  window: DayWindow,
  { lists = [], untilTime }: { lists?: readonly Dimension[]; untilTime?: TimeOfDay | undefined } = {},
): Promise<{ counts: DayCounts; totals: VisitCounts["lists"]; hourly: AppAnalytics["hourly"] }> {
  const counts = await countVisits(db, toScan(question, window, untilTime), { lists });
  return {
    counts: toDayCounts(counts, { zone: question.timeZone, today: window.to }),
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
    : { zone: question.timeZone, days, lastDay: to, now: question.now, keptSince: question.keptSince, widgetId };
}

export function toScan(
  { owner, rules, keptSince, filters, visitCondition, signal }: Question,
  { from, to }: DayWindow,
  untilTime?: TimeOfDay,
): Scan {
  const oldestDay = toLocalDay(rules, keptSince);
  return { owner, rules, filters, condition: visitCondition, days: { from, to, untilTime }, oldestDay, signal };
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
