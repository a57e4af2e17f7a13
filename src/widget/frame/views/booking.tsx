import { useReducer, useRef, useState } from "preact/hooks";
import type { ConfigAnswer } from "#contract/book.ts";
import { changeFlow, type FlowStep, startFlow, toPreviousStep, toProgress } from "../flow.ts";
import { createFormats, toFirstWeekday } from "../formats.ts";
import { useFreeTimes } from "../free-times.ts";
import { useHostPage } from "../host-page.ts";
import type { Session } from "../session.ts";
import { useSubmit } from "../submit.ts";
import { useStepHistory } from "../use-step-history.ts";
import { useWhen } from "../use-when.ts";
import { findOwnZone } from "../zones.ts";
import { ServiceStep, StaffStep } from "./choice-steps.tsx";
import { DoneStep } from "./done-step.tsx";
import { FormStep } from "./form-step.tsx";
import { Notice } from "./notice.tsx";
import { Shell } from "./shell.tsx";
import { Summary } from "./summary.tsx";
import { TimeStep } from "./time-step.tsx";

/** Holds what the visitor has chosen and entered; each step shows a part of it. */
export function Booking(props: {
  session: Session;
  config: ConfigAnswer;
  onPaused: () => void;
  onChanged: () => void;
  hasChanged: boolean;
}) {
  const { session, config, hasChanged } = props;
  const { texts, locale, context, funnel, visit, steps: history } = session;
  const { services } = config;
  const [flow, change] = useReducer(changeFlow, null, () => startFlow(services, context));
  const [timeZone, setTimeZone] = useState(() => findOwnZone() ?? config.timeZone);
  const firstWeekday = toFirstWeekday(locale);
  const formats = createFormats(locale, timeZone, { firstWeekday, hourCycle: config.widget.hourCycle });
  const times = useFreeTimes(
    session.api,
    flow.service && flow.step !== "service" && flow.step !== "staff"
      ? { service: flow.service.id, staff: flow.staffId }
      : null,
  );
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
  const view = useHostPage({ session, services, flow, change, startOver });
  useWhen([flow.service, flow.booked], () => {
    if (flow.service) funnel.record("service_selected");
  });

  const previous = flow.step === "done" ? null : toPreviousStep(services, flow);
  const progress = toProgress(services, flow);
  const goTo = (step: FlowStep) => {
    submit.dismiss();
    change({ type: "wentTo", step });
  };
  useStepHistory({ steps: history, services, flow, goTo });
  const shared = { session, config, flow, change, formats, headed };
  return (
    <Shell
      session={session}
      businessName={config.widget.businessName}
      onBack={previous && (() => goTo(previous))}
      progress={progress}
      isTest={config.widget.isTest}
      logoUrl={config.widget.logoUrl}
    >
      <div class={`body step-${flow.step}`} ref={view}>
        {hasChanged && !flow.slot && (
          <Notice kind="problem" title={texts.changedTitle} text={texts.changed} takesFocus />
        )}
        {(flow.step === "time" || flow.step === "form") && <Summary {...shared} timeZone={timeZone} />}
        {flow.step === "service" && <ServiceStep {...shared} />}
        {flow.step === "staff" && <StaffStep {...shared} />}
        {flow.step === "time" && (
          <TimeStep
            key={`${flow.service?.id} ${flow.staffId}`}
            {...shared}
            times={times}
            timeZone={timeZone}
            firstWeekday={firstWeekday}
            onTimeZone={setTimeZone}
            problem={submit.problem}
            onGoTo={goTo}
          />
        )}
        {flow.step === "form" && <FormStep {...shared} submit={submit} />}
        {flow.step === "done" && flow.booked && (
          <DoneStep {...shared} booked={flow.booked} timeZone={timeZone} onAnother={() => startOver()} />
        )}
      </div>
      <p class="unseen" role="status">
        {submit.isSending ? texts.sending : ""}
      </p>
    </Shell>
  );
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
