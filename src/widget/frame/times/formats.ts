import type { HourCycle } from "#contract/widgets/widget-looks.ts";
import { type Day, type Month, toUtcMs } from "./days.ts";

export type Formats = {
  time(atMs: number): string;
  /** With the UTC offset, for times that occur twice in the night when clocks go back. */
  timeWithOffset(atMs: number): string;
  /** With UTC offsets if the hour occurs twice that night. */
  timeRange(fromMs: number, toMs: number): string;
  dateOf(atMs: number): string;
  day(day: Day): string;
  dayNumber(day: Day): string;
  month(month: Month): string;
  weekdays: readonly { short: string; long: string }[];
};

/** How far clocks are set back: an hour, or half an hour on Lord Howe Island. */
const CLOCK_SHIFTS_MS = [3_600_000, -3_600_000, 1_800_000, -1_800_000];

/** A Monday. */
const SOME_MONDAY: Day = "2026-11-02";

export function createFormats(
  locale: string,
  timeZone: string,
  { firstWeekday, hourCycle }: { firstWeekday: number; hourCycle: HourCycle | null },
): Formats {
  const hours = hourCycle === null ? {} : { hourCycle };
  const inZone = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone, ...hours, ...options });
  const ofDay = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options });
    return (day: Day) => format.format(toUtcMs(day));
  };
  const time = inZone({ timeStyle: "short" });
  const timeWithOffset = inZone({ hour: "numeric", minute: "2-digit", timeZoneName: "shortOffset" });
  const date = inZone({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
  const month = ofDay({ month: "long", year: "numeric" });
  const [short, long] = [ofDay({ weekday: "short" }), ofDay({ weekday: "long" })];
  const comesTwice = (atMs: number) =>
    CLOCK_SHIFTS_MS.some((shiftMs) => time.format(atMs + shiftMs) === time.format(atMs));
  return {
    time: (atMs) => time.format(atMs),
    timeWithOffset: (atMs) => timeWithOffset.format(atMs),
    timeRange: (fromMs, toMs) =>
      comesTwice(fromMs) || comesTwice(toMs)
        ? `${timeWithOffset.format(fromMs)} – ${timeWithOffset.format(toMs)}`
        : time.formatRange(fromMs, toMs),
    dateOf: (atMs) => date.format(atMs),
    day: ofDay({ weekday: "long", day: "numeric", month: "long" }),
    dayNumber: ofDay({ day: "numeric" }),
    month: (text) => month(`${text}-01`),
    weekdays: Array.from({ length: 7 }, (_, index) => {
      const day = `2026-11-${String(Number(SOME_MONDAY.slice(8)) + ((firstWeekday - 1 + index) % 7)).padStart(2, "0")}`;
      return { short: toHead(short(day)), long: long(day) };
    }),
  };
}

const HEAD_LENGTH_MAX = 4;

/** In Portugal, the short names are "segunda" and "domingo", which don't fit above a day; people write "seg" and "dom". */
function toHead(name: string): string {
  return name.length > HEAD_LENGTH_MAX ? name.slice(0, 3) : name;
}

/** The first day of the week: 1 for Monday, 7 for Sunday. */
export function toFirstWeekday(locale: string): number {
  // Missing in our DOM types. Browsers have it as a method, as a property, or not at all.
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number };
    weekInfo?: { firstDay: number };
  };
  return (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay ?? (/^(en-US|pt-BR|es-MX)$/.test(locale) ? 7 : 1);
}
