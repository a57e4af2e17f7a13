import type { RawBuilder } from "kysely";
import type { Analytics } from "#contract/analytics/analytics.ts";
import { type AppAnalytics, HOURLY_DAYS_MAX, LIST_ROWS_MAX, LISTED_DIMENSIONS } from "#contract/app/analytics.ts";
import type { OrganizationId, WidgetId } from "#contract/ids.ts";
import { SOURCES_MAX } from "#contract/limits.ts";
import type { Plan } from "#contract/plans.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import type { Query } from "../../http/parameters.ts";
import { toLocalDay, toTimeOfDayMs, type ZoneRules } from "../../lib/time/zone-rules.ts";
import { toKeptSince } from "../../organizations/organizations.ts";
import { countVisits, type Scan } from "../count/count-visits.ts";
import { type TimeOfDay, toLocalWindow } from "../count/local-window.ts";
import { findFirstDay, toHours } from "../count/to-counts.ts";
import type { VisitCounts } from "../count/visit-counts.ts";
import { countDrops } from "../record/queries.ts";
import { type DayWindow, readComparison, readPeriod, type Today } from "./app-window.ts";
import { type Filter, findOneWidget, readFilters, requireFilterWidgets, toWidgetFilters } from "./filters.ts";
import { LISTED_KINDS, selectLists, toContractLists } from "./lists.ts";
import { toDayReport, toShownZone } from "./report.ts";

// A report for the dashboard. It is in one time zone as a whole: the one that was found together with who asks.

/** `signal` is aborted when they have left. */
export type Reader = { organizationId: OrganizationId; plan: Plan; timeZone: string | null; signal?: AbortSignal };

/** What a report counts, and for whom. */
export type Selection = {
  owner: OrganizationId;
  now: Date;
  keptSince: Date;
  filters: readonly Filter[];
  /** A condition on funnel_visits that visits must meet to be counted. */
  visitCondition?: RawBuilder<unknown>;
  window: DayWindow;
  timeZone: string;
  rules: ZoneRules;
  today: string;
  signal: AbortSignal | undefined;
};

type AnalyticsDeps = Pick<Deps, "db" | "clock">;

/** Throws 400 if the query is invalid, and then 404 if a widget is unknown. */
export async function readSelection(
  { db, clock }: AnalyticsDeps,
  reader: Reader,
  query: Query,
  readWindow: (query: Query, today: Today) => DayWindow | Promise<DayWindow> = readPeriod,
): Promise<Selection> {
  const owner = reader.organizationId;
  const filters = readFilters(query);
  const now = clock.now();
  const keptSince = toKeptSince(reader.plan, now);
  const { zone: timeZone, rules } = toShownZone(reader.timeZone);
  const today = toLocalDay(rules, now);
  const asked = { owner, now, keptSince, filters, timeZone, rules, today, signal: reader.signal };
  const window = await readWindow(query, { today, findDataSince: () => readDataSince(db, asked, null) });
  await requireFilterWidgets(db, owner, filters);
  return { ...asked, window };
}

export async function readReport(deps: AnalyticsDeps, reader: Reader, query: Query): Promise<AppAnalytics> {
  const selection = await readSelection(deps, reader, query);
  return await makeReport(deps, selection, readComparison(query, selection.window));
}

/** `before` is the window to compare with. */
export async function makeReport(
  deps: AnalyticsDeps,
  selection: Selection,
  before: DayWindow | null,
): Promise<AppAnalytics> {
  const { db } = deps;
  const { owner, now, window, rules, today, filters, timeZone: zone } = selection;
  const widgetId = findOneWidget(filters);
  const [counts, previous, dataSince, droppedEvents] = await Promise.all([
    countVisits(db, toScan(selection, window), { lists: LISTED_DIMENSIONS }),
    before && readPrevious(deps, selection, before),
    readDataSince(db, selection, widgetId),
    countDrops(db, owner, { ...toLocalWindow(rules, window), widgetId }),
  ]);
  const lists = await selectLists(db, owner, { totals: counts.lists, rowsMax: LIST_ROWS_MAX });
  return {
    ...toDayReport(counts, { zone, ...window }),
    ...toContractLists(lists),
    from: window.from,
    to: window.to,
    now: `${today}T${toTimeText(toTimeOfDayMs(rules, now))}`,
    hourly: toHourly(counts, window),
    lists,
    previous: previous && { ...previous, isComplete: dataSince !== null && previous.from >= dataSince },
    dataSince,
    droppedEvents,
  };
}

/** The first day with data of a widget, or of all; null before the first view. */
async function readDataSince(
  db: Deps["db"],
  { owner, keptSince, rules, today, signal }: Omit<Selection, "window">,
  widgetId: WidgetId | null,
): Promise<string | null> {
  const oldestDay = toLocalDay(rules, keptSince);
  const days = { from: oldestDay, to: today };
  const counts = await countVisits(db, { owner, rules, days, oldestDay, filters: toWidgetFilters(widgetId), signal });
  return findFirstDay(counts);
}

/** Partial days are compared with the same part of the earlier day. */
async function readPrevious(
  { db }: AnalyticsDeps,
  selection: Selection,
  before: DayWindow,
): Promise<Omit<NonNullable<AppAnalytics["previous"]>, "isComplete">> {
  const { window, now, rules, today, timeZone: zone } = selection;
  const untilTime = window.to === today && before.to < today ? toTimeOfDayMs(rules, now) : undefined;
  const counts = await countVisits(db, toScan(selection, before, untilTime));
  const { totals, daily } = toDayReport(counts, { zone, ...before });
  return {
    from: before.from,
    to: before.to,
    untilTime: untilTime === undefined ? null : toTimeText(untilTime),
    totals,
    daily,
    hourly: toHourly(counts, before),
  };
}

/** Only for windows that are short enough. */
function toHourly(counts: VisitCounts, { days }: DayWindow): AppAnalytics["hourly"] {
  return days <= HOURLY_DAYS_MAX ? toHours(counts) : null;
}

export function toScan(
  { owner, rules, keptSince, filters, visitCondition, signal }: Selection,
  { from, to }: DayWindow,
  untilTime?: TimeOfDay,
): Scan {
  const oldestDay = toLocalDay(rules, keptSince);
  return { owner, rules, filters, condition: visitCondition, days: { from, to, untilTime }, oldestDay, signal };
}

function toTimeText(ms: TimeOfDay): string {
  return new Date(ms).toISOString().slice("1970-01-01T".length, "1970-01-01T12:00".length);
}

export async function readAnalytics(db: Db, selection: Selection): Promise<Analytics> {
  const { owner, window, timeZone: zone } = selection;
  const counts = await countVisits(db, toScan(selection, window), { lists: LISTED_KINDS });
  const lists = await selectLists(db, owner, { totals: counts.lists, rowsMax: SOURCES_MAX });
  return { ...toDayReport(counts, { zone, ...window }), ...toContractLists(lists) };
}
