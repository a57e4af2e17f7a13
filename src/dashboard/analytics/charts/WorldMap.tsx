import type { MouseEvent } from "react";
import type { AnalyticsEntry } from "#contract/analytics/analytics.ts";
import { pluralize } from "../../format.ts";
import type { Filtering } from "../breakdowns/BreakdownTable.tsx";
import { toKeyName } from "../breakdowns/dimension-words.ts";
import classes from "./WorldMap.module.css";
import world from "./world-map.json";

type MapProps = { rows: readonly AnalyticsEntry[]; filtering: Filtering };

const SHAPES = Object.entries(world.countries);

/** The more bookings, the darker; views count if nobody booked. Hidden from screen readers: the table says the same. */
export function WorldMap({ rows, filtering }: MapProps) {
  const byCode = new Map(rows.map((row) => [row.key, row]));
  const measured = rows.every((row) => row.bookings === 0) ? "views" : "bookings";
  const most = Math.max(...rows.map((row) => row[measured]), 1);
  const choose = ({ target }: MouseEvent) => {
    const code = target instanceof SVGElement ? target.dataset["country"] : undefined;
    if (code !== undefined && byCode.has(code)) filtering.onShowOnly("country", code);
  };
  const isMarked = (code: string) => byCode.has(code) || filtering.isChosen("country", code);
  return (
    <svg className={classes["map"]} viewBox={`0 0 ${world.width} ${world.height}`} aria-hidden onClick={choose}>
      {/* Countries that aren't marked look the same and can't be clicked, so one path draws them all. */}
      <path
        d={SHAPES.filter(([code]) => !isMarked(code))
          .map(([, shape]) => shape)
          .join("")}
      />
      {SHAPES.filter(([code]) => isMarked(code)).map(([code, shape]) => {
        const row = byCode.get(code);
        return (
          <path
            key={code}
            d={shape}
            data-country={code}
            data-counted={row !== undefined}
            data-chosen={filtering.isChosen("country", code)}
            // The square root keeps small countries visible beside a large one.
            style={row ? { fillOpacity: 0.2 + 0.8 * Math.sqrt(row[measured] / most) } : undefined}
          >
            {row && (
              <title>
                {`${toKeyName("country", code, filtering.widgetNames)}: ${pluralize(row.views, "view")}, ${pluralize(row.bookings, "booking")}`}
              </title>
            )}
          </path>
        );
      })}
    </svg>
  );
}
