import "@mantine/dates/styles.layer.css";
import { DatePicker } from "@mantine/dates";
import { useState } from "react";
import { dayAhead, FIRST_DAY_OF_WEEK, toDay } from "../../days.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import classes from "./DayRangeCalendar.module.css";

export type DayRange = { from: string; to: string };

type CalendarProps = DayRange & {
  /** For appointments; everything else lies in the past. */
  mayBeFuture?: boolean;
  onChoose: (range: DayRange) => void;
};

/** Picks a first and a last day, in the organization's time zone. */
export function DayRangeCalendar({ from, to, mayBeFuture = false, onChoose }: CalendarProps) {
  const { details } = useOrganization();
  const today = dayAhead(0, details.timeZone);
  const [range, setRange] = useState<[string | null, string | null]>([toDay(from), toDay(to)]);
  return (
    <DatePicker
      type="range"
      allowSingleDateInRange
      hideOutsideDates
      weekendDays={[]}
      mx="auto"
      {...(mayBeFuture ? {} : { maxDate: today })}
      defaultDate={toDay(from) ?? today}
      getDayProps={(day) => (day === today ? { "aria-current": "date", className: classes["today"] } : {})}
      firstDayOfWeek={FIRST_DAY_OF_WEEK}
      weekdayFormat={(day) => WEEKDAY.format(new Date(day))}
      monthLabelFormat={(day) => MONTH.format(new Date(day))}
      value={range}
      onChange={(chosen) => {
        setRange(chosen);
        const [first, last] = chosen;
        if (first && last) onChoose({ from: first, to: last });
      }}
      ariaLabels={{ previousMonth: "Previous month", nextMonth: "Next month" }}
    />
  );
}

const WEEKDAY = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "short" });
const MONTH = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "long", year: "numeric" });
