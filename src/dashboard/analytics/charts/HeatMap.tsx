import { Text } from "@mantine/core";
import { type CSSProperties, type KeyboardEvent, type ReactNode, useState } from "react";
import { FIRST_DAY_OF_WEEK } from "../../days.ts";
import { pluralize } from "../../format.ts";
import { useIsPhone } from "../../hooks/screen-width.ts";
import { formatHourOfDay, formatWeekday } from "./buckets.ts";
import { findBusiest, type WeekHour } from "./find-busiest.ts";
import classes from "./HeatMap.module.css";

const LABELLED_HOURS = 3;
/** 1.2K: cells are narrow. */
const shortCount = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** Monday is 0. */
const DAYS = Array.from({ length: 7 }, (_, i) => (FIRST_DAY_OF_WEEK + 6 + i) % 7);
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

type HeatMapProps = {
  /** By weekday, from Monday, and hour. */
  counts: readonly (readonly number[])[];
  noun: "booking" | "view";
  /** The hour that everything is filtered by. */
  chosen: WeekHour | null;
  /** Makes each hour a filter. */
  onChoose?: (hour: WeekHour) => void;
};

/** Tab leads to one of them, arrow keys to the others. On phones the hours are in a column. */
export function HeatMap({ counts, noun, chosen, onChoose }: HeatMapProps) {
  const isTall = useIsPhone();
  const busiest = findBusiest(counts);
  const [reached, setReached] = useState<WeekHour | null>(null);
  const inTabOrder = reached ?? chosen ?? busiest.hours[0] ?? { day: DAYS[0] ?? 0, hour: 0 };
  const move = (event: KeyboardEvent) => {
    const next = toNextHour(event.key, { from: inTabOrder, isTall });
    if (!next) return;
    event.preventDefault();
    setReached(next);
    event.currentTarget.querySelector<HTMLElement>(`[data-hour="${toId(next)}"]`)?.focus();
  };
  const cell = (day: number, hour: number) => (
    <HourCell
      key={toId({ day, hour })}
      at={{ day, hour }}
      count={counts[day]?.[hour] ?? 0}
      most={busiest.count}
      isChosen={isSame(chosen, { day, hour })}
      isInTabOrder={isSame(inTabOrder, { day, hour })}
      noun={noun}
      {...(onChoose
        ? {
            onChoose: () => {
              setReached({ day, hour });
              onChoose({ day, hour });
            },
          }
        : {})}
    />
  );
  return (
    <>
      <Text size="sm" mb="sm">
        {describeBusiest(busiest, noun)}
      </Text>
      <table
        className={classes["table"]}
        data-noun={noun}
        aria-label={`${noun === "view" ? "Views" : "Bookings"} by weekday and hour`}
        onKeyDown={move}
      >
        <HourRows isTall={isTall} cell={cell} />
      </table>
    </>
  );
}

type RowsProps = { isTall: boolean; cell: (day: number, hour: number) => ReactNode };

function HourRows({ isTall, cell }: RowsProps) {
  return (
    <>
      <thead>
        <tr>
          <td />
          {isTall
            ? DAYS.map((day) => <DayHeading key={day} day={day} scope="col" />)
            : HOURS.map((hour) => <HourHeading key={hour} hour={hour} scope="col" />)}
        </tr>
      </thead>
      <tbody>
        {isTall
          ? HOURS.map((hour) => (
              <tr key={hour}>
                <HourHeading hour={hour} scope="row" />
                {DAYS.map((day) => cell(day, hour))}
              </tr>
            ))
          : DAYS.map((day) => (
              <tr key={day}>
                <DayHeading day={day} scope="row" />
                {HOURS.map((hour) => cell(day, hour))}
              </tr>
            ))}
      </tbody>
    </>
  );
}

type CellProps = Pick<HeatMapProps, "noun"> & {
  at: WeekHour;
  count: number;
  most: number;
  isChosen: boolean;
  isInTabOrder: boolean;
  onChoose?: () => void;
};

/** Plain elements, because there are 168 cells, and Mantine's components take several times as long to render. */
function HourCell({ at, count, most, isChosen, isInTabOrder, noun, onChoose }: CellProps) {
  const name = `${toHourName(at)}: ${pluralize(count, noun)}`;
  // Filtering by an empty hour would leave nothing to show.
  const isActive = onChoose !== undefined && (count > 0 || isChosen);
  return (
    <td
      className={classes["cell"]}
      // React's type has no custom properties.
      style={{ "--share": count / Math.max(1, most) } as CSSProperties}
      data-none={count === 0}
    >
      <button
        type="button"
        className={classes["hour"]}
        data-hour={toId(at)}
        title={name}
        aria-label={name}
        {...(onChoose ? { "aria-pressed": isChosen } : {})}
        aria-disabled={!isActive}
        tabIndex={isInTabOrder ? 0 : -1}
        onClick={() => isActive && onChoose()}
      >
        {count > 0 && shortCount.format(count)}
      </button>
    </td>
  );
}

/** Down and right in the order of the table; null for other keys. It ends at the edges. */
function toNextHour(key: string, { from, isTall }: { from: WeekHour; isTall: boolean }): WeekHour | null {
  const [row, column] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[key] ?? [];
  if (row === undefined || column === undefined) return null;
  const [days, hours] = isTall ? [column, row] : [row, column];
  const clamp = (place: number, most: number) => Math.min(Math.max(place, 0), most);
  return {
    day: DAYS[clamp(DAYS.indexOf(from.day) + days, DAYS.length - 1)] ?? from.day,
    hour: clamp(from.hour + hours, HOURS.length - 1),
  };
}

function toId({ day, hour }: WeekHour): string {
  return `${day}-${hour}`;
}

function isSame(a: WeekHour | null, b: WeekHour): boolean {
  return a?.day === b.day && a.hour === b.hour;
}

function DayHeading({ day, scope }: { day: number; scope: "col" | "row" }) {
  return (
    <th scope={scope}>
      <abbr title={formatWeekday(day)}>{formatWeekday(day, "short")}</abbr>
    </th>
  );
}

function HourHeading({ hour, scope }: { hour: number; scope: "col" | "row" }) {
  return (
    <th scope={scope}>
      <span className={hour % LABELLED_HOURS === 0 ? undefined : classes["unseen"]}>{formatHourOfDay(hour)}</span>
    </th>
  );
}

function toHourName({ day, hour }: WeekHour): string {
  return `${formatWeekday(day)}, ${formatHourOfDay(hour)}`;
}

/** More would be hard to read. */
const NAMED_MAX = 2;

/** "Busiest: Monday, 10:00 (28 bookings)." */
function describeBusiest({ count, hours }: ReturnType<typeof findBusiest>, noun: "booking" | "view"): string {
  if (hours.length === 0) return `No ${noun}s in this period.`;
  if (hours.length > NAMED_MAX) return `Busiest: ${hours.length} hours with ${pluralize(count, noun)} each.`;
  const each = hours.length > 1 ? " each" : "";
  return `Busiest: ${hours.map(toHourName).join(" and ")} (${pluralize(count, noun)}${each}).`;
}
