import { UnstyledButton, VisuallyHidden } from "@mantine/core";
import { TIME_KEYS } from "#contract/analytics/dimensions.ts";
import { formatCount, formatRate } from "../../format.ts";
import { toFilterKeyName } from "../filters/filter-words.ts";
import classes from "./LeadTimes.module.css";

type LeadTimesProps = {
  /** In the order of the lead times' keys. */
  counts: readonly number[];
  chosen?: readonly string[];
  /** Makes each row a filter. */
  onChoose?: (key: string) => void;
};

export function LeadTimes({ counts, chosen = [], onChoose }: LeadTimesProps) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(1, ...counts);
  return (
    <ul className={classes["groups"]}>
      {TIME_KEYS.leadTime.map((key, i) => {
        const count = counts[i] ?? 0;
        const isChosen = chosen.includes(key);
        const name = toFilterKeyName("leadTime", key, new Map());
        const share = total > 0 ? formatRate(count / total) : "–";
        return (
          <li key={key}>
            <UnstyledButton
              className={classes["group"]}
              {...(onChoose ? { "aria-pressed": isChosen } : {})}
              // Nothing would be left to show.
              disabled={!onChoose || (count === 0 && !isChosen)}
              onClick={() => onChoose?.(key)}
            >
              <span className={classes["name"]}>{name}</span>
              <VisuallyHidden>: </VisuallyHidden>
              <span className={classes["track"]} aria-hidden>
                <span
                  className={classes["bar"]}
                  style={{ width: `${(count / most) * 100}%` }}
                  data-none={count === 0}
                />
              </span>
              <span className={classes["count"]}>{formatCount(count)}</span>
              <VisuallyHidden> {count === 1 ? "booking" : "bookings"}, </VisuallyHidden>
              <span className={classes["rate"]}>{share}</span>
            </UnstyledButton>
          </li>
        );
      })}
    </ul>
  );
}
