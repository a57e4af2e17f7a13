import { useRef } from "preact/hooks";
import { type Flow, type FlowStep, leadsTo, listSteps, type Service } from "./flow.ts";
import type { StepHistory } from "./step-history.ts";
import { useWhen } from "./use-when.ts";

/** Adds each step to the browser's history, and follows Back and Forward. */
export function useStepHistory(parts: {
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
