import { useRef, useState } from "preact/hooks";
import type { BookResult } from "./api.ts";
import { checkForm, type FormFaults, toFormFaults } from "./check-form.ts";
import { makeUuid } from "./environment.ts";
import { type Flow, type FlowAction, toBookingParts } from "./flow.ts";
import type { FreeTimes } from "./free-times.ts";
import type { Session } from "./session.ts";

// Sending the booking. A key stands for one try at one time: it stays the same until the server has said what became of it,
// so that a double click, a lost reply and a second try give one booking.

export type Problem = "taken" | "unavailable" | "offline" | "busy";

export type Submit = {
  readonly isSending: boolean;
  readonly problem: Problem | null;
  readonly faults: FormFaults;
  /** Counts the refusals, so that each one is read out. */
  readonly refusals: number;
  send(): Promise<void>;
  /** The visitor went on to something else. */
  dismiss(): void;
  forget(): void;
};

type Parts = {
  session: Session;
  flow: Flow;
  change: (action: FlowAction) => void;
  times: FreeTimes;
  timeZone: string;
  onPaused: () => void;
  onChanged: () => void;
};

type State = Pick<Submit, "isSending" | "problem" | "faults" | "refusals">;

const QUIET: State = { isSending: false, problem: null, faults: new Map(), refusals: 0 };

export function useSubmit(parts: Parts): Submit {
  const [state, setState] = useState<State>(QUIET);
  const sending = useRef(false);
  const attempt = useRef<{ what: string; key: string } | null>(null);
  const { session, flow } = parts;
  const { texts, bridge } = session;

  async function send(): Promise<void> {
    const wanted = toBookingParts(flow);
    if (sending.current || !wanted || !flow.service) return;
    const faults = checkForm(flow.values, flow.service, texts);
    if (faults.size > 0) return setState({ ...QUIET, faults, refusals: state.refusals + 1 });

    const what = JSON.stringify([wanted.serviceId, wanted.start, wanted.staffId]);
    if (attempt.current?.what !== what) attempt.current = { what, key: makeUuid() };
    sending.current = true;
    setState({ ...QUIET, isSending: true, refusals: state.refusals });
    const { attribution } = session.context;
    const request = {
      visitId: session.visit.id,
      ...wanted,
      timeZone: parts.timeZone,
      locale: session.locale,
      ...(attribution?.currentPage === undefined ? {} : { page: attribution.currentPage }),
      ...(attribution === undefined ? {} : { attribution }),
    };
    const result = await session.api.book(request, attempt.current.key);
    sending.current = false;
    if (result.kind !== "offline" && !(result.kind === "unavailable" && !result.isSettled)) attempt.current = null;
    if (result.kind !== "booked") bridge.post({ type: "failed", code: toCode(result) });
    settle(result);
  }

  function settle(result: BookResult) {
    const refuse = (change: Partial<State>) => setState({ ...QUIET, ...change, refusals: state.refusals + 1 });
    switch (result.kind) {
      case "booked": {
        const { reference, service, start } = result.answer;
        bridge.post({ type: "booked", reference, serviceName: service.name, start });
        setState(QUIET);
        return parts.change({ type: "booked", answer: result.answer });
      }
      case "taken":
        parts.times.leaveOut({ start: flow.slot?.start ?? "", fresh: result.fresh });
        parts.change({ type: "slotChosen", slot: null });
        parts.change({ type: "wentTo", step: "time" });
        return refuse({ problem: "taken" });
      case "fields": {
        // A browser or a password manager filled in what people do not see; their next try is without it.
        if ("website" in result.fields) {
          parts.change({ type: "entered", values: { website: "" } });
          return refuse({ problem: "unavailable" });
        }
        const faults = flow.service && toFormFaults(Object.keys(result.fields), flow.service, texts);
        if (faults) return refuse({ faults });
        session.context.prefill = flow.values;
        return parts.onChanged();
      }
      case "paused":
        return parts.onPaused();
      case "busy":
      case "unavailable":
      case "offline":
        return refuse({ problem: result.kind });
      default:
        return result satisfies never;
    }
  }

  return {
    ...state,
    send,
    dismiss: () => setState({ ...QUIET, refusals: state.refusals }),
    forget: () => {
      attempt.current = null;
      setState(QUIET);
    },
  };
}

function toCode(result: Exclude<BookResult, { kind: "booked" }>): string {
  switch (result.kind) {
    case "taken":
      return "slot_taken";
    case "fields":
      return "invalid_fields";
    case "paused":
      return "widget_paused";
    case "busy":
      return "rate_limited";
    case "unavailable":
      return "scheduler_unavailable";
    case "offline":
      return "network";
    default:
      return result satisfies never;
  }
}
