import { useMemo, useRef, useState } from "preact/hooks";
import type { FreeSlot } from "#contract/book.ts";
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
} from "../days.ts";
import { currentMs } from "../environment.ts";
import type { FlowStep } from "../flow.ts";
import type { FreeTimes } from "../free-times.ts";
import type { Problem } from "../submit.ts";
import { useWhen } from "../use-when.ts";
import { findOwnZone } from "../zones.ts";
import { Calendar } from "./calendar.tsx";
import { Notice } from "./notice.tsx";
import type { StepProps } from "./step-props.ts";
import { Times } from "./times.tsx";
import { ZoneSelect } from "./zone-select.tsx";

const MONTHS_AHEAD = 12;

type TimeStepProps = StepProps & {
  times: FreeTimes;
  timeZone: string;
  firstWeekday: number;
  onTimeZone: (zone: string) => void;
  problem: Problem | null;
  onGoTo: (step: FlowStep) => void;
};

export function TimeStep(props: TimeStepProps) {
  const { session, headed, times, problem } = props;
  const { texts, funnel } = session;
  useWhen([times.isEmpty], () => {
    if (times.isEmpty) funnel.record("no_availability");
  });
  return (
    <section>
      {problem === "taken" && <Notice kind="problem" title={texts.takenTitle} text={texts.taken} takesFocus />}
      <h2 ref={headed} tabIndex={-1}>
        {texts.chooseTime}
      </h2>
      {times.isFailed ? (
        <Notice kind="problem" title={texts.loadFailedTitle} text={texts.loadFailed}>
          <button type="button" class="primary" onClick={times.retry}>
            {texts.retry}
          </button>
        </Notice>
      ) : times.isEmpty ? (
        <NoTimes {...props} />
      ) : (
        <DayAndTime {...props} />
      )}
    </section>
  );
}

function NoTimes({ session, config, flow, onGoTo }: TimeStepProps) {
  const { texts } = session;
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
  const { session, config, flow, change, formats, times, timeZone } = props;
  const { texts, funnel } = session;
  const [chosenDay, setChosenDay] = useState<Day | null>(null);
  const [chosenMonth, setChosenMonth] = useState<Month | null>(null);
  const [isTimeMissing, setTimeMissing] = useState(false);
  const [said, setSaid] = useState("");
  const timesElement = useRef<HTMLDivElement>(null);
  const actions = useRef<HTMLDivElement>(null);

  const days = useMemo(() => groupByDay(times.slots, timeZone), [times.slots, timeZone]);
  const today = toDay(currentMs(), timeZone);
  const day = toShownDay({ days, chosenDay, slot: flow.slot, timeZone });
  const month = chosenMonth ?? toMonth(day ?? today);
  const monthEndMs = toStartMs(addDays(toLastDay(month), 1), timeZone);
  const isMonthLoading = times.isLoading && times.loadedToMs < monthEndMs;
  useWhen([monthEndMs], () => times.loadUpTo(monthEndMs));

  const shown = day !== null && toMonth(day) === month ? day : null;
  const slots = (shown && days.get(shown)) || [];
  const isMonthEmpty = !isMonthLoading && ![...days.keys()].some((each) => toMonth(each) === month);

  const selectDay = (picked: Day) => {
    const count = days.get(picked)?.length ?? 0;
    if (count === 0) return setSaid(texts.noTimesOn(formats.day(picked)));
    funnel.record("date_selected");
    setChosenDay(picked);
    setChosenMonth(toMonth(picked));
    setSaid(texts.freeTimesOn(count, formats.day(picked)));
    if (flow.slot && toDay(Date.parse(flow.slot.start), timeZone) !== picked)
      change({ type: "slotChosen", slot: null });
  };
  const selectSlot = (slot: FreeSlot) => {
    funnel.record("date_selected");
    funnel.record("slot_selected");
    setTimeMissing(false);
    change({ type: "slotChosen", slot });
    // An inline frame is as tall as its content, so the page around it has to scroll.
    actions.current?.scrollIntoView({ block: "nearest" });
  };
  const goOn = () => {
    if (flow.slot) return change({ type: "wentTo", step: "form" });
    setTimeMissing(true);
    timesElement.current?.querySelector("input")?.focus();
  };

  return (
    <>
      <div class="columns">
        <Calendar
          texts={texts}
          formats={formats}
          firstWeekday={props.firstWeekday}
          month={month}
          firstMonth={toMonth(today)}
          lastMonth={shiftMonth(toMonth(today), MONTHS_AHEAD)}
          today={today}
          selected={shown}
          countOf={(each) => days.get(each)?.length ?? 0}
          isLoading={isMonthLoading}
          onMonth={setChosenMonth}
          onSelect={selectDay}
        />
        <div class="day-times" ref={timesElement}>
          {isMonthLoading && slots.length === 0 ? (
            <p class="hint loading">{texts.loading}</p>
          ) : slots.length > 0 && shown ? (
            <Times
              texts={texts}
              formats={formats}
              timeZone={timeZone}
              legend={texts.timesOn(formats.day(shown))}
              slots={slots}
              selected={flow.slot}
              onSelect={selectSlot}
            />
          ) : (
            <p class="hint">{isMonthEmpty ? texts.noTimesIn(formats.month(month)) : texts.chooseDay}</p>
          )}
        </div>
      </div>
      <ZoneSelect
        texts={texts}
        suggested={[findOwnZone() ?? [], config.timeZone].flat()}
        selected={timeZone}
        onSelect={(zone) => {
          setChosenDay(null);
          setChosenMonth(null);
          props.onTimeZone(zone);
        }}
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
        {said}
      </p>
    </>
  );
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

/** The day of the chosen time, the selected day, or else the first day with free times. */
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
