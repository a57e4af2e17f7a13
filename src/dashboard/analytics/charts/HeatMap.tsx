import { Box, ScrollArea, Text } from "@mantine/core";
import { FIRST_DAY_OF_WEEK } from "../../first-day-of-week.ts";
import { pluralize } from "../../format.ts";
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

/** `counts` are by weekday, from Monday, and hour. */
export function HeatMap({ counts, noun }: { counts: readonly (readonly number[])[]; noun: "booking" | "view" }) {
  const most = Math.max(1, ...counts.flat());
  return (
    <>
      <Text size="sm" mb="sm">
        {describeBusiest(counts, noun)}
      </Text>
      <ScrollArea type="auto" viewportProps={{ tabIndex: 0 }}>
        <table
          className={classes["table"]}
          data-noun={noun}
          aria-label={`${noun === "view" ? "Views" : "Bookings"} by weekday and hour`}
        >
          <thead>
            <tr>
              <td />
              {Array.from({ length: 24 }, (_, hour) => (
                <th key={hourLabel(hour)} scope="col">
                  <span className={hour % LABELLED_HOURS === 0 ? undefined : classes["unseen"]}>{hourLabel(hour)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {DAYS.map((day) => {
              const date = new Date(MONDAY + day * DAY_MS);
              const name = longDay.format(date);
              return (
                <tr key={name}>
                  <th scope="row">
                    <abbr title={name}>{shortDay.format(date)}</abbr>
                  </th>
                  {(counts[day] ?? []).map((count, hour) => (
                    <Box
                      key={hourLabel(hour)}
                      component="td"
                      className={classes["cell"]}
                      __vars={{ "--share": String(count / most) }}
                      data-none={count === 0}
                      title={`${name}, ${hourLabel(hour)}: ${pluralize(count, noun)}`}
                    >
                      {count === 0 ? <span className={classes["unseen"]}>0</span> : shortCount.format(count)}
                    </Box>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollArea>
    </>
  );
}

/** "Busiest: Mondays at 10:00 (28 bookings)." */
function describeBusiest(counts: readonly (readonly number[])[], noun: "booking" | "view"): string {
  const cells = counts.flatMap((hours, day) => hours.map((count, hour) => ({ day, hour, count })));
  const busiest = cells.reduce((top, cell) => (cell.count > top.count ? cell : top));
  if (busiest.count === 0) return `No ${noun}s in this period.`;
  const name = longDay.format(new Date(MONDAY + busiest.day * DAY_MS));
  return `Busiest: ${name}, ${hourLabel(busiest.hour)} (${pluralize(busiest.count, noun)}).`;
}
