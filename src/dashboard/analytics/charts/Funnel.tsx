import { Box } from "@mantine/core";
import type { Analytics } from "#contract/analytics/analytics.ts";
import { FUNNEL_STEPS, type FunnelStep } from "#contract/analytics/steps.ts";
import { formatCount, formatRate, pluralize } from "../../format.ts";
import classes from "./Funnel.module.css";

export const STEP_NAMES: Record<FunnelStep, string> = {
  widget_viewed: "Saw the widget",
  service_selected: "Chose a service",
  date_selected: "Chose a day",
  slot_selected: "Chose a time",
  form_started: "Started the form",
  booking_completed: "Booked",
};

/** "40% leave after choosing a day". */
export const AFTER_STEP: Record<FunnelStep, string> = {
  widget_viewed: "seeing the widget",
  service_selected: "choosing a service",
  date_selected: "choosing a day",
  slot_selected: "choosing a time",
  form_started: "starting the form",
  booking_completed: "booking",
};

export function Funnel({ funnel }: { funnel: Analytics["funnel"] }) {
  const viewed = funnel.widget_viewed;
  const worst = findWorstStep(funnel);
  return (
    <>
      {worst && (
        <p className={classes["worst"]}>
          Biggest drop-off: {formatRate(worst.lost / viewed)} of all visits leave after {AFTER_STEP[worst.step]}.
        </p>
      )}
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
                <Box
                  className={classes["bar"]}
                  __vars={{ "--share": `${viewed > 0 ? (visits / viewed) * 100 : 0}%` }}
                />
              </div>
              {next && <DropOff before={visits} after={funnel[next]} />}
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** The step after which most visits end; null if none does, or if there are several. */
export function findWorstStep(funnel: Analytics["funnel"]): { step: FunnelStep; lost: number } | null {
  const drops = FUNNEL_STEPS.slice(0, -1).map((step, i) => {
    const next = FUNNEL_STEPS[i + 1];
    return { step, lost: next ? funnel[step] - funnel[next] : 0 };
  });
  const worst = drops.reduce((top, drop) => (drop.lost > top.lost ? drop : top));
  return worst.lost > 0 && drops.filter(({ lost }) => lost === worst.lost).length === 1 ? worst : null;
}

function DropOff({ before, after }: { before: number; after: number }) {
  const left = before - after;
  return (
    <div className={classes["left"]}>
      {left === 0 ? "No drop-off" : `${pluralize(left, "visit")} dropped off (${formatRate(left / before)})`}
    </div>
  );
}
