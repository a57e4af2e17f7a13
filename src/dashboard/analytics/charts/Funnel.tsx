import type { Analytics } from "#contract/analytics.ts";
import { FUNNEL_STEPS, type FunnelStep } from "#contract/steps.ts";
import { formatCount, formatRate, pluralize } from "../../format.ts";
import classes from "./Funnel.module.css";

const STEP_NAMES: Record<FunnelStep, string> = {
  widget_viewed: "Saw the widget",
  service_selected: "Chose a service",
  date_selected: "Chose a day",
  slot_selected: "Chose a time",
  form_started: "Started the form",
  booking_completed: "Booked",
};

/** Visits per step, and how many left in between. */
export function Funnel({ funnel }: { funnel: Analytics["funnel"] }) {
  const viewed = funnel.widget_viewed;
  return (
    <ol className={classes["steps"]}>
      {FUNNEL_STEPS.map((step, index) => {
        const visits = funnel[step];
        const next = FUNNEL_STEPS[index + 1];
        return (
          <li key={step}>
            <div className={classes["head"]}>
              <span className={classes["name"]}>{STEP_NAMES[step]}</span>
              <span className={classes["count"]}>{formatCount(visits)}</span>
              <span className={classes["rate"]}>{viewed > 0 ? formatRate(visits / viewed) : "–"}</span>
            </div>
            <div className={classes["track"]} aria-hidden>
              <div className={classes["bar"]} style={{ width: `${viewed > 0 ? (visits / viewed) * 100 : 0}%` }} />
            </div>
            {next && <DropOff before={visits} after={funnel[next]} />}
          </li>
        );
      })}
    </ol>
  );
}

function DropOff({ before, after }: { before: number; after: number }) {
  const left = before - after;
  return (
    <div className={classes["left"]}>
      {left === 0 ? "No one left here" : `${pluralize(left, "visit")} left here (${formatRate(left / before)})`}
    </div>
  );
}
