import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Texts } from "../texts/texts.ts";
import {
  addDays,
  addMonths,
  type Day,
  type Month,
  shiftMonth,
  toLastDay,
  toMonth,
  toWeekday,
  toWeeks,
} from "../times/days.ts";
import type { Formats } from "../times/formats.ts";
import { Icon } from "./icon.tsx";

type CalendarProps = {
  texts: Texts;
  formats: Formats;
  firstWeekday: number;
  month: Month;
  firstMonth: Month;
  lastMonth: Month;
  today: Day;
  selected: Day | null;
  countOf: (day: Day) => number;
  isLoading: boolean;
  onMonth: (month: Month) => void;
  onSelect: (day: Day) => void;
};

/** A month as a grid, following the ARIA Authoring Practices: one day is in the tab order, and keys move from there. */
export function Calendar(props: CalendarProps) {
  const { texts, formats, month, selected, countOf } = props;
  const weeks = toWeeks(month, props.firstWeekday);
  const { grid, active, setActive, moveTo } = useActiveDay(props);
  const days = weeks.flat().filter((day) => toMonth(day) === month);
  const focusable = [active, selected].find((day) => day && toMonth(day) === month) ?? days.find(countOf) ?? days[0];
  const turn = (count: number) => {
    setActive(null);
    props.onMonth(shiftMonth(month, count));
  };
  const onKeyDown = (event: KeyboardEvent, day: Day) => {
    const target = toTarget(event, day, props.firstWeekday);
    if (target === null) return;
    event.preventDefault();
    moveTo(target);
  };
  const select = (day: Day) => {
    setActive(day);
    props.onSelect(day);
  };
  return (
    <div class="calendar" aria-busy={props.isLoading}>
      <MonthBar {...props} onTurn={turn} />
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the grid of the ARIA Authoring Practices */}
      <table role="grid" aria-labelledby="month" aria-describedby="calendar-hint" ref={grid}>
        <Weekdays formats={formats} />
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) =>
                toMonth(day) === month ? (
                  <DayCell
                    key={day}
                    {...props}
                    day={day}
                    isFocusable={day === focusable}
                    onKeyDown={onKeyDown}
                    onSelect={select}
                  />
                ) : (
                  <td key={day} />
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <p id="calendar-hint" class="unseen">
        {texts.calendarHint}
      </p>
    </div>
  );
}

/** The day that keys have moved to. Focus follows it, even into another month. */
function useActiveDay({ month, firstMonth, lastMonth, onMonth }: CalendarProps) {
  const [active, setActive] = useState<Day | null>(null);
  const grid = useRef<HTMLTableElement>(null);
  const takesFocus = useRef(false);
  useLayoutEffect(() => {
    if (!takesFocus.current) return;
    takesFocus.current = false;
    grid.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  });
  const moveTo = (day: Day) => {
    const [first, last] = [`${firstMonth}-01`, toLastDay(lastMonth)];
    const target = day < first ? first : day > last ? last : day;
    takesFocus.current = true;
    setActive(target);
    if (toMonth(target) !== month) onMonth(toMonth(target));
  };
  return { grid, active, setActive, moveTo };
}

function MonthBar(props: CalendarProps & { onTurn: (count: number) => void }) {
  const { texts, formats, month, firstMonth, lastMonth, onTurn } = props;
  return (
    <div class="month">
      <button
        type="button"
        class="icon-button"
        aria-label={texts.previousMonth}
        aria-disabled={month <= firstMonth}
        onClick={() => month > firstMonth && onTurn(-1)}
      >
        <Icon name="back" />
      </button>
      <h3 id="month" aria-live="polite">
        {formats.month(month)}
      </h3>
      <button
        type="button"
        class="icon-button"
        aria-label={texts.nextMonth}
        aria-disabled={month >= lastMonth}
        onClick={() => month < lastMonth && onTurn(1)}
      >
        <Icon name="next" />
      </button>
    </div>
  );
}

function Weekdays({ formats }: { formats: Formats }) {
  return (
    <thead>
      <tr>
        {formats.weekdays.map(({ short, long }) => (
          <th key={long} scope="col" abbr={long}>
            <span aria-hidden="true">{short}</span>
            <span class="unseen">{long}</span>
          </th>
        ))}
      </tr>
    </thead>
  );
}

type DayCellProps = CalendarProps & {
  day: Day;
  isFocusable: boolean;
  onKeyDown: (event: KeyboardEvent, day: Day) => void;
};

function DayCell(props: DayCellProps) {
  const { formats, today, selected, countOf, day, isFocusable, onKeyDown, onSelect } = props;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: in a grid it is a gridcell
    <td aria-selected={day === selected}>
      <button
        type="button"
        class="day"
        data-day={day}
        tabIndex={isFocusable ? 0 : -1}
        aria-disabled={countOf(day) === 0}
        aria-current={day === today ? "date" : undefined}
        aria-label={toLabel(day, props)}
        onKeyDown={(event) => onKeyDown(event, day)}
        onClick={() => onSelect(day)}
      >
        {formats.dayNumber(day)}
      </button>
    </td>
  );
}

function toLabel(day: Day, { texts, formats, countOf }: CalendarProps): string {
  const count = countOf(day);
  return `${formats.day(day)}${count > 0 ? `, ${texts.freeTimes(count)}` : ""}`;
}

function toTarget(event: KeyboardEvent, day: Day, firstWeekday: number): Day | null {
  const position = (toWeekday(day) - firstWeekday + 7) % 7;
  switch (event.key) {
    case "ArrowLeft":
      return addDays(day, -1);
    case "ArrowRight":
      return addDays(day, 1);
    case "ArrowUp":
      return addDays(day, -7);
    case "ArrowDown":
      return addDays(day, 7);
    case "Home":
      return addDays(day, -position);
    case "End":
      return addDays(day, 6 - position);
    case "PageUp":
      return addMonths(day, event.shiftKey ? -12 : -1);
    case "PageDown":
      return addMonths(day, event.shiftKey ? 12 : 1);
    default:
      return null;
  }
}
