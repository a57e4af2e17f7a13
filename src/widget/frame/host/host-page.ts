import { useRef } from "preact/hooks";
import type { Flow, FlowAction, Service } from "../flow.ts";
import type { Frame } from "../frame.ts";
import { useWhen } from "../use-when.ts";

/** Follows what the host page asks of the booking, and notices when the visitor sees the frame. */
export function useHostPage(parts: {
  frame: Frame;
  services: readonly Service[];
  flow: Flow;
  change: (action: FlowAction) => void;
  startOver: (service?: string) => void;
}) {
  const view = useRef<HTMLDivElement>(null);
  const { bridge, context, funnel } = parts.frame;
  // Listens once, and uses the values of the moment a message arrives.
  const latest = useRef(parts);
  latest.current = parts;

  useWhen([], () =>
    bridge.listen((heard) => {
      const { services, flow, change, startOver } = latest.current;
      if (heard.prefill) {
        context.prefill = heard.prefill;
        change({ type: "prefilled", prefill: heard.prefill });
      }
      const service = services.find(({ id }) => id === heard.service);
      if (!service || (service.id === flow.service?.id && flow.step !== "done")) return;
      if (flow.step === "done") startOver(service.id);
      else change({ type: "serviceChosen", service });
    }),
  );

  useWhen([], () => {
    const element = view.current;
    if (!element) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      funnel.record("widget_viewed");
    });
    observer.observe(element);
    return () => observer.disconnect();
  });
  return view;
}
