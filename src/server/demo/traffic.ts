import { DAY_MS, HOUR_MS, MINUTE_MS } from "#contract/durations.ts";
import { ClinicCalendar } from "./calendar.ts";
import { BRANCH, CHILDREN, DEMO_WIDGETS, DEMO_ZONE, type DemoWidget, WEBSITE } from "./clinic.ts";
import { createDice, type Dice } from "./dice.ts";
import { TRAFFIC_SOURCES, type TrafficSource } from "./traffic-sources.ts";
import { type DemoVisit, makeVisit, type World } from "./visit.ts";

// More than a year of visits up to now, always the same for the same `now`, so that a month can be compared with the one a year
// ago: growth, busy Mondays and quiet Sundays, peaks before noon and in the evening, campaigns that start and end, a week of
// holidays, and a morning when the scheduling system failed.

export const DEMO_DAYS = 410;

const SEED = 20_261_101;
const CHANGES_SEED = 41;
/** No visit lasts longer than this, so an earlier one is over by now. */
const LONGEST_VISIT_MS = 20 * MINUTE_MS;
const CALENDAR_DAYS_AHEAD = 60;

/** Scales the shares of all ways down to a demo that loads in seconds. */
const CROWD = 0.18;
/** Monday to Sunday. */
const WEEKDAYS = [1.24, 1.16, 1.08, 1.04, 0.9, 0.58, 0.66];
/** One entry per hour, from midnight. */
const WORKDAY_HOURS = toHours([2, 1, 1, 1, 1, 2, 6, 14, 24, 32, 36, 34, 30, 26, 26, 25, 24, 26, 30, 36, 38, 30, 16, 7]);
/** People sleep in, and plan the week on Sunday evening. */
const WEEKEND_HOURS = toHours([4, 3, 2, 1, 1, 1, 2, 4, 10, 20, 30, 34, 30, 24, 22, 22, 24, 26, 28, 34, 40, 34, 20, 10]);
/** Today's crowd compared with the first day's, minus 1. */
const GROWTH = 2;
const HOLIDAY_DAYS_AGO = [45, 39] as const;
const OUTAGE_DAYS_AGO = 23;
const OUTAGE_HOURS = [9, 13] as const;
/** The share of visits that go to the one widget their way leads to. */
const STRAIGHT = 0.7;

type Hour = { readonly hour: number; readonly share: number };
type Hours = readonly [Hour, ...Hour[]];
type Day = { readonly daysAgo: number; readonly startMs: number; readonly crowd: number; readonly hours: Hours };

export function makeTraffic(now: Date): DemoVisit[] {
  const dice = createDice(SEED);
  const changeDice = createDice(CHANGES_SEED);
  const world: World = { now, dice, changeDice, calendars: openCalendars(now), customers: [], used: new Set() };
  return listDays(dice, now).flatMap((day) =>
    listArrivals(dice, day)
      .filter(({ at }) => at.getTime() < now.getTime() - LONGEST_VISIT_MS)
      .map(({ way, at }) => {
        const widget = chooseWidget(dice, way, day);
        return makeVisit(world, { way, widget, at, ...lookAt(day, at) });
      }),
  );
}

function openCalendars(now: Date): Map<string, ClinicCalendar> {
  const from = new Date(now.getTime() - DEMO_DAYS * DAY_MS);
  const to = new Date(now.getTime() + CALENDAR_DAYS_AHEAD * DAY_MS);
  const range = { timeZone: DEMO_ZONE, from, to };
  return new Map(DEMO_WIDGETS.map(({ id, setup }) => [id, new ClinicCalendar(setup, range)]));
}

/** Oldest first. */
function listDays(dice: Dice, now: Date): Day[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(DEMO_ZONE).toPlainDate();
  return Array.from({ length: DEMO_DAYS }, (_, index) => {
    const daysAgo = DEMO_DAYS - 1 - index;
    const day = today.subtract({ days: daysAgo });
    const mood = 0.88 + dice.roll() * 0.24;
    const crowd = CROWD * (WEEKDAYS[day.dayOfWeek - 1] ?? 1) * (1 + (GROWTH * index) / DEMO_DAYS) * mood;
    const hours = day.dayOfWeek > 5 ? WEEKEND_HOURS : WORKDAY_HOURS;
    return { daysAgo, startMs: day.toZonedDateTime(DEMO_ZONE).epochMilliseconds, crowd, hours };
  });
}

function listArrivals(dice: Dice, day: Day): { way: TrafficSource; at: Date }[] {
  const arrivals = TRAFFIC_SOURCES.filter((way) => isOpen(way, day)).flatMap((way) => {
    const count = Math.floor(way.share * day.crowd + dice.roll());
    return Array.from({ length: count }, () => ({ way, at: new Date(day.startMs + chooseTimeMs(dice, day)) }));
  });
  return arrivals.sort((a, b) => a.at.getTime() - b.at.getTime());
}

function isOpen({ lasts }: TrafficSource, { daysAgo }: Day): boolean {
  return lasts === undefined || (daysAgo <= lasts[0] && daysAgo >= lasts[1]);
}

/** Milliseconds since the start of the day. */
function chooseTimeMs(dice: Dice, { hours }: Day): number {
  return Math.floor((dice.pickByShare(hours).hour + dice.roll()) * HOUR_MS);
}

function toHours([first, ...later]: readonly [number, ...number[]]): Hours {
  return [{ hour: 0, share: first }, ...later.map((share, index) => ({ hour: index + 1, share }))];
}

function chooseWidget(dice: Dice, { widget }: TrafficSource, { daysAgo }: Day): DemoWidget {
  const isInUse = widget !== undefined && daysAgo > (widget.pausedDaysAgo ?? -1);
  return isInUse && dice.falls(STRAIGHT) ? widget : dice.pickByShare([WEBSITE, BRANCH, CHILDREN]);
}

function lookAt(day: Day, at: Date): { isHoliday: boolean; isOutage: boolean } {
  const hour = (at.getTime() - day.startMs) / HOUR_MS;
  return {
    isHoliday: day.daysAgo <= HOLIDAY_DAYS_AGO[0] && day.daysAgo >= HOLIDAY_DAYS_AGO[1],
    isOutage: day.daysAgo === OUTAGE_DAYS_AGO && hour >= OUTAGE_HOURS[0] && hour < OUTAGE_HOURS[1],
  };
}
