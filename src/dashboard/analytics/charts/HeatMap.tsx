import { Box, Text } from "@mantine/core";
import { FIRST_DAY_OF_WEEK } from "../../first-day-of-week.ts";
import { pluralize } from "../../format.ts";
import { useIsPhone } from "../../hooks/use-is-phone.ts";
import { formatHour } from "./format-bucket.ts";
import classes from "./HeatMap.module.css";

/** Any Monday. */
const MONDAY = Date.UTC(2026, 10, 2);
const DAY_MS = 86_400_000;
const shortDay = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "short" });
const longDay = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", weekday: "long" });
const hourLabel = (hour: number) => formatHour(`2026-11-02T${String(hour).padStart(2, "0")}`);
const LABELLED_HOURS = 3;
/** 1.2K: cells are narrow. */
const shortCount = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

/** Monday is 0. */
const DAYS = Array.from({ length: 7 }, (_, i) => (FIRST_DAY_OF_WEEK + 6 + i) % 7);

const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

type HeatMapProps = { counts: readonly (readonly number[])[]; noun: "booking" | "view" };

/** `counts` are by weekday, from Monday, and hour. On phones the hours are below each other, so that every figure has room. */
export function HeatMap({ counts, noun }: HeatMapProps) {
  const isTall = useIsPhone();
  const most = Math.max(1, ...counts.flat());
  const cell = (day: number, hour: number) => {
    const count = counts[day]?.[hour] ?? 0;
    return (
      <Box
        key={`${day} ${hour}`}
        component="td"
        className={classes["cell"]}
        __vars={{ "--share": String(count / most) }}
        data-none={count === 0}
        title={`${formatDay(longDay, day)}, ${hourLabel(hour)}: ${pluralize(count, noun)}`}
      >
        {count === 0 ? <span className={classes["unseen"]}>0</span> : shortCount.format(count)}
      </Box>
    );
  };
  return (
    <>
      <Text size="sm" mb="sm">
        {describeBusiest(counts, noun)}
      </Text>
      <table
        className={classes["table"]}
        data-noun={noun}
        aria-label={`${noun === "view" ? "Views" : "Bookings"} by weekday and hour`}
      >
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
      </table>
    </>
  );
}

function DayHeading({ day, scope }: { day: number; scope: "col" | "row" }) {
  return (
    <th scope={scope}>
      <abbr title={formatDay(longDay, day)}>{formatDay(shortDay, day)}</abbr>
    </th>
  );
}

function HourHeading({ hour, scope }: { hour: number; scope: "col" | "row" }) {
  return (
    <th scope={scope}>
      <span className={hour % LABELLED_HOURS === 0 ? undefined : classes["unseen"]}>{hourLabel(hour)}</span>
    </th>
  );
}

function formatDay(format: Intl.DateTimeFormat, day: number): string {
  return format.format(new Date(MONDAY + day * DAY_MS));
}

/** "Busiest: Mondays at 10:00 (28 bookings)." */
function describeBusiest(counts: readonly (readonly number[])[], noun: "booking" | "view"): string {
  const cells = counts.flatMap((hours, day) => hours.map((count, hour) => ({ day, hour, count })));
  const busiest = cells.reduce((top, cell) => (cell.count > top.count ? cell : top));
  if (busiest.count === 0) return `No ${noun}s in this period.`;
  return `Busiest: ${formatDay(longDay, busiest.day)}, ${hourLabel(busiest.hour)} (${pluralize(busiest.count, noun)}).`;
}
