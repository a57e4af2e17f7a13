/** Sunday is 0. */
export type DayOfWeek = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** The first day of the week in the reader's locale; Monday if the browser can't tell. */
export const FIRST_DAY_OF_WEEK = readFirstDayOfWeek();

function readFirstDayOfWeek(): DayOfWeek {
  const { locale } = new Intl.DateTimeFormat().resolvedOptions();
  // The compiler's library doesn't know getWeekInfo yet. Intl counts Sunday as 7.
  const known: Intl.Locale & { getWeekInfo?: () => { firstDay: number } } = new Intl.Locale(locale);
  return ((known.getWeekInfo?.().firstDay ?? 1) % 7) as DayOfWeek;
}
