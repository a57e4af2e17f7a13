import { useMemo, useRef, useState } from "preact/hooks";
import type { FreeSlot } from "#contract/widgets/embed-api.ts";
import { currentMs } from "../environment.ts";
import type { FlowStep } from "../flow.ts";
import type { Problem } from "../submit.ts";
import {
  addDays,
  type Day,
  groupByDay,
  type Month,
  shiftMonth,
  toDay,
  toLastDay,
  toMonth,
  toStartMs,
} from "../times/days.ts";
import type { FreeTimes } from "../times/free-times.ts";
import { findOwnZone } from "../times/zones.ts";
import { useWhen } from "../use-when.ts";
import { Calendar } from "./calendar.tsx";
import { Notice } from "./notice.tsx";
import type { StepProps } from "./step-props.ts";
import { Times } from "./times.tsx";
import { ZoneSelect } from "./zone-select.tsx";

const MONTHS_AHEAD = 12;

type TimeStepProps = StepProps & {
  times: FreeTimes;
  timeZone: string;
  isZoneLocked: boolean;
  firstWeekday: number;
  onTimeZone: (zone: string) => void;
  problem: Problem | null;
  onGoTo: (step: FlowStep) => void;
};

export function TimeStep(props: TimeStepProps) {
  const { frame, headed, times, problem } = props;
  const { texts, funnel } = frame;
  useWhen([times.isEmpty], () => {
    if (times.isEmpty) funnel.record("no_availability");
  });
  return (
    <section>
      {problem === "taken" && <Notice kind="problem" title={texts.takenTitle} text={texts.taken} takesFocus />}
      <h2 ref={headed} tabIndex={-1}>
        {texts.chooseTime}
      </h2>
      {times.failure !== null && times.slots.length === 0 ? (
        <TimesFailed {...props} />
      ) : times.isEmpty ? (
        <NoTimes {...props} />
      ) : (
        <DayAndTime {...props} />
      )}
    </section>
  );
}

function TimesFailed({ frame, headed, times }: TimeStepProps) {
  const { texts } = frame;
  if (times.failure === null) return null;
  const retry = () => {
    // The button goes away.
    headed.current?.focus();
    times.retry();
  };
  return (
    <Notice kind="problem" title={texts.timesFailedTitle} text={texts[`${times.failure}Failed`]}>
      <button type="button" class="primary" onClick={retry}>
        {texts.retry}
      </button>
    </Notice>
  );
}

function NoTimes({ frame, config, flow, onGoTo }: TimeStepProps) {
  const { texts } = frame;
  const person = flow.service?.staff.find(({ id }) => id === flow.staffId);
  return (
    <Notice kind="calm" title={texts.noTimesTitle} text={person ? texts.noTimesWith(person.name) : texts.noTimes}>
      {person && (
        <button type="button" class="secondary" onClick={() => onGoTo("staff")}>
          {texts.otherStaff}
        </button>
      )}
      {config.services.length > 1 && (
        <button type="button" class="secondary" onClick={() => onGoTo("service")}>
          {texts.otherService}
        </button>
      )}
    </Notice>
  );
}

function DayAndTime(props: TimeStepProps) {
  const { config, flow, formats, timeZone } = props;
  const { texts } = props.frame;
  const [isTimeMissing, setTimeMissing] = useState(false);
  const timesElement = useRef<HTMLDivElement>(null);
  const actions = useRef<HTMLDivElement>(null);
  const choice = useDayChoice(props);
  const selectSlot = (slot: FreeSlot) => {
    setTimeMissing(false);
    choice.selectSlot(slot);
    // An inline frame is as tall as its content, so the page around it has to scroll.
    actions.current?.scrollIntoView({ block: "nearest" });
  };
  const changeZone = (zone: string) => {
    choice.forget();
    props.onTimeZone(zone);
  };
  const goOn = () => {
    setTimeMissing(!flow.slot);
    if (flow.slot) props.onGoTo("form");
    else timesElement.current?.querySelector("input")?.focus();
  };
  return (
    <>
      <div class="columns">
        <Calendar texts={texts} formats={formats} firstWeekday={props.firstWeekday} {...choice.calendar} />
        <div class="day-times" ref={timesElement}>
          {choice.hasMonthFailed && <TimesFailed {...props} />}
          <TimesOfDay {...props} choice={choice} onSelect={selectSlot} />
        </div>
      </div>
      <ZoneSelect
        texts={texts}
        suggested={[findOwnZone() ?? [], config.timeZone].flat()}
        selected={timeZone}
        isLocked={props.isZoneLocked}
        onSelect={changeZone}
      />
      <div class="actions" ref={actions}>
        <p class="picked" role="status">
          {isTimeMissing && !flow.slot ? <span class="fault">{texts.pleaseChooseTime}</span> : <Picked {...props} />}
        </p>
        <button type="button" class="primary" onClick={goOn}>
          {texts.continue}
        </button>
      </div>
      <p class="unseen" role="status">
        {choice.said}
      </p>
    </>
  );
}

/** The month and the day that are shown, and what a screen reader says about the day. */
function useDayChoice({ frame, flow, change, formats, times, timeZone }: TimeStepProps) {
  const { texts, funnel } = frame;
  const [chosenDay, setChosenDay] = useState<Day | null>(null);
  const [chosenMonth, setMonth] = useState<Month | null>(null);
  const [said, setSaid] = useState("");
  const days = useMemo(() => groupByDay(times.slots, timeZone), [times.slots, timeZone]);
  const today = toDay(currentMs(), timeZone);
  const day = toShownDay({ days, chosenDay, slot: flow.slot, timeZone });
  const month = chosenMonth ?? toMonth(day ?? today);
  const monthEndMs = toStartMs(addDays(toLastDay(month), 1), timeZone);
  const isMonthLoaded = times.loadedToMs >= monthEndMs;
  const isMonthLoading = times.isLoading && !isMonthLoaded;
  const hasMonthFailed = times.failure !== null && !isMonthLoaded;
  useWhen([monthEndMs], () => times.loadUpTo(monthEndMs));

  const selectDay = (picked: Day) => {
    const count = days.get(picked)?.length ?? 0;
    if (count === 0) return setSaid(texts.noTimesOn(formats.day(picked)));
    funnel.record("date_selected");
    setChosenDay(picked);
    setMonth(toMonth(picked));
    setSaid(texts.freeTimesOn(count, formats.day(picked)));
    if (flow.slot && toDay(Date.parse(flow.slot.start), timeZone) !== picked)
      change({ type: "slotChosen", slot: null });
  };
  const selectSlot = (slot: FreeSlot) => {
    funnel.record("date_selected");
    funnel.record("slot_selected");
    change({ type: "slotChosen", slot });
  };
  const forget = () => {
    setChosenDay(null);
    setMonth(null);
  };
  const shown = day !== null && toMonth(day) === month ? day : null;
  const calendar = {
    month,
    firstMonth: toMonth(today),
    lastMonth: shiftMonth(toMonth(today), MONTHS_AHEAD),
    today,
    selected: shown,
    countOf: (each: Day) => days.get(each)?.length ?? 0,
    isLoading: isMonthLoading,
    onMonth: setMonth,
    onSelect: selectDay,
  };
  const isMonthEmpty = !isMonthLoading && ![...days.keys()].some((each) => toMonth(each) === month);
  const slots = shown && days.get(shown);
  return { calendar, day: shown, slots, isMonthEmpty, hasMonthFailed, said, selectSlot, forget };
}

type TimesOfDayProps = TimeStepProps & {
  choice: ReturnType<typeof useDayChoice>;
  onSelect: (slot: FreeSlot) => void;
};

function TimesOfDay({ frame, flow, formats, timeZone, choice, onSelect }: TimesOfDayProps) {
  const { texts } = frame;
  const { day, slots, calendar, isMonthEmpty, hasMonthFailed } = choice;
  if (day && slots)
    return (
      <Times
        texts={texts}
        formats={formats}
        timeZone={timeZone}
        legend={texts.timesOn(formats.day(day))}
        slots={slots}
        selected={flow.slot}
        onSelect={onSelect}
      />
    );
  if (isMonthEmpty && hasMonthFailed) return null;
  if (calendar.isLoading) return <p class="hint loading">{texts.loading}</p>;
  return <p class="hint">{isMonthEmpty ? texts.noTimesIn(formats.month(calendar.month)) : texts.chooseDay}</p>;
}

function Picked({ flow, formats }: TimeStepProps) {
  if (!flow.slot) return null;
  const [startMs, endMs] = [Date.parse(flow.slot.start), Date.parse(flow.slot.end)];
  return (
    <>
      {formats.dateOf(startMs)}, <span class="together">{formats.timeRange(startMs, endMs)}</span>
    </>
  );
}

/** The day of the chosen time, the selected day, or else the first day with available times. */
function toShownDay(from: {
  days: ReadonlyMap<Day, readonly FreeSlot[]>;
  chosenDay: Day | null;
  slot: FreeSlot | null;
  timeZone: string;
}): Day | null {
  const { days, chosenDay, slot, timeZone } = from;
  if (chosenDay && days.has(chosenDay)) return chosenDay;
  if (slot) return toDay(Date.parse(slot.start), timeZone);
  return days.keys().next().value ?? null;
}
