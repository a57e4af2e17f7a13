import type { ComponentProps } from "preact";
import { useReducer, useRef, useState } from "preact/hooks";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import {
  changeFlow,
  type Flow,
  type FlowStep,
  leadsTo,
  listSteps,
  type Service,
  startFlow,
  toPreviousStep,
  toProgress,
} from "../flow.ts";
import type { Frame } from "../frame.ts";
import { useHostPage } from "../host/host-page.ts";
import type { StepHistory } from "../step-history.ts";
import { type Submit, useSubmit } from "../submit.ts";
import { createFormats, toFirstWeekday } from "../times/formats.ts";
import { useFreeTimes } from "../times/free-times.ts";
import { findOwnZone } from "../times/zones.ts";
import { useWhen } from "../use-when.ts";
import { ServiceStep, StaffStep } from "./choice-steps.tsx";
import { DoneStep } from "./done-step.tsx";
import { FormStep } from "./form-step.tsx";
import { Notice } from "./notice.tsx";
import { Shell } from "./shell.tsx";
import { Summary } from "./summary.tsx";
import { TimeStep } from "./time-step.tsx";

type BookingProps = {
  frame: Frame;
  config: ConfigResponse;
  onPaused: () => void;
  onChanged: () => void;
  hasChanged: boolean;
};

export function Booking(props: BookingProps) {
  const { frame, config } = props;
  const { texts, locale, context, funnel, visit, steps: history } = frame;
  const { services } = config;
  const [flow, change] = useReducer(changeFlow, null, () => startFlow(services, context));
  const [hasChanged, setChanged] = useState(props.hasChanged);
  const [chosenZone, setTimeZone] = useState(() => findOwnZone() ?? config.timeZone);
  const isZoneLocked = config.widget.locksTimeZone && flow.service?.isOnline !== true;
  const timeZone = isZoneLocked ? config.timeZone : chosenZone;
  const firstWeekday = toFirstWeekday(locale);
  const formats = createFormats(locale, timeZone, { firstWeekday, hourCycle: config.widget.hourCycle });
  const times = useFreeTimes(frame.api, toTimesQuery(flow));
  const submit = useSubmit({ ...props, isTest: config.widget.isTest, flow, change, times, timeZone });
  const headed = useHeadingFocus(flow.step, submit.problem !== null);

  const startOver = (service?: string) => {
    visit.begin();
    submit.forget();
    times.forget();
    const { service: _wished, ...wishes } = context;
    change({ type: "startedOver", flow: startFlow(services, service === undefined ? wishes : { ...wishes, service }) });
    funnel.record("widget_viewed");
  };
  const view = useHostPage({ frame, services, flow, change, startOver });
  // The notice must not come back and take the focus when the visitor then chooses another day or books again.
  useWhen([flow.slot], () => {
    if (flow.slot) setChanged(false);
  });
  useWhen([flow.service, flow.booked], () => {
    if (flow.service) funnel.record("service_selected");
  });

  const previous = flow.step === "done" ? null : toPreviousStep(services, flow);
  const goTo = (step: FlowStep) => {
    submit.dismiss();
    change({ type: "wentTo", step });
  };
  useStepHistory({ steps: history, services, flow, goTo });
  return (
    <Shell
      frame={frame}
      widget={config.widget}
      onBack={previous && (() => goTo(previous))}
      progress={toProgress(services, flow)}
    >
      <div class={`body step-${flow.step}`} ref={view}>
        {hasChanged && <Notice kind="problem" title={texts.changedTitle} text={texts.changed} takesFocus />}
        <Step
          {...{ frame, config, flow, change, formats, headed, firstWeekday, times, timeZone, isZoneLocked, submit }}
          onTimeZone={setTimeZone}
          onGoTo={goTo}
          onAnother={() => startOver()}
        />
      </div>
      <p class="unseen" role="status">
        {submit.isSending ? texts.sending : ""}
      </p>
    </Shell>
  );
}

/** What available times are loaded for; null while the visitor still chooses a service or a person. */
function toTimesQuery({ service, staffId, step }: Flow) {
  return service && step !== "service" && step !== "staff" ? { service: service.id, staff: staffId } : null;
}

type AllStepProps = Omit<ComponentProps<typeof TimeStep>, "problem"> & { submit: Submit; onAnother: () => void };

function Step(props: AllStepProps) {
  const { flow, submit, onAnother, ...step } = props;
  const shared = { ...step, flow };
  switch (flow.step) {
    case "service":
      return <ServiceStep {...shared} />;
    case "staff":
      return <StaffStep {...shared} />;
    case "time":
      return (
        <>
          <Summary {...shared} />
          <TimeStep key={`${flow.service?.id} ${flow.staffId}`} {...shared} problem={submit.problem} />
        </>
      );
    case "form":
      return (
        <>
          <Summary {...shared} />
          <FormStep {...shared} submit={submit} />
        </>
      );
    case "done":
      return flow.booked && <DoneStep {...shared} booked={flow.booked} onAnother={onAnother} />;
    default:
      return flow.step satisfies never;
  }
}

/** Focuses the heading of each step but the first: a frame must not take the focus from its host page. */
function useHeadingFocus(step: FlowStep, hasProblem: boolean) {
  const heading = useRef<HTMLHeadingElement>(null);
  const last = useRef(step);
  useWhen([step], () => {
    if (last.current === step) return;
    last.current = step;
    // In a popup, this element scrolls.
    document.getElementById("frame")?.scrollTo(0, 0);
    if (!hasProblem) heading.current?.focus();
  });
  return heading;
}

/** Adds each step to the browser's history, and follows Back and Forward. */
function useStepHistory(parts: {
  steps: StepHistory;
  services: readonly Service[];
  flow: Flow;
  goTo: (step: FlowStep) => void;
}): void {
  const { steps, services, flow } = parts;
  // Listens once, and uses the values of the moment the visitor moves.
  const latest = useRef(parts);
  latest.current = parts;

  useWhen([], () =>
    steps.listen((move) => {
      const { services, flow, goTo } = latest.current;
      if (!leadsTo(services, flow, move)) return false;
      goTo(move.step);
      return true;
    }),
  );
  useWhen([flow.step], () => steps.show(flow.step, Math.max(0, listSteps(services, flow).indexOf(flow.step))));
}
