import { LEAD_DAYS } from "#contract/dimensions.ts";
import { formatCount, formatRate } from "../../format.ts";
import classes from "./LeadTimes.module.css";

const LABELS = LEAD_DAYS.map((before, i) => {
  const from = LEAD_DAYS[i - 1] ?? 0;
  if (from === 0) return "Less than a day";
  const last = before - 1;
  return from === last ? `${from} ${from === 1 ? "day" : "days"}` : `${from}–${last} days`;
});

/** Bookings by the time between booking and appointment. */
export function LeadTimes({ counts }: { counts: readonly number[] }) {
  const labels = [...LABELS, `${LEAD_DAYS.at(-1)} days or more`];
  const total = counts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(1, ...counts);
  return (
    <dl className={classes["groups"]}>
      {labels.map((label, i) => {
        const count = counts[i] ?? 0;
        return (
          <div key={label} className={classes["group"]}>
            <dt>{label}</dt>
            <dd className={classes["track"]} aria-hidden>
              <div className={classes["bar"]} style={{ width: `${(count / most) * 100}%` }} data-none={count === 0} />
            </dd>
            <dd className={classes["count"]}>{formatCount(count)}</dd>
            <dd className={classes["rate"]}>{total > 0 ? formatRate(count / total) : "–"}</dd>
          </div>
        );
      })}
    </dl>
  );
}
