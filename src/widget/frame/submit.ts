import { useRef, useState } from "preact/hooks";
import type { BookRequest } from "#contract/widgets/embed-api.ts";
import type { BookResult } from "./api.ts";
import { checkForm, type FormFaults, toFormFaults } from "./check-form.ts";
import { makeUuid } from "./environment.ts";
import { type Flow, type FlowAction, toBooked, toBookingParts } from "./flow.ts";
import type { Frame } from "./frame.ts";
import type { FreeTimes } from "./times/free-times.ts";

// Sends the booking. The idempotency key stays the same until the server has reported an outcome, so a double click, a lost
// reply and a retry give one booking. A visitor who changes something after a lost reply (another time, a corrected address)
// abandons the earlier try: if it was booked, they see that booking; if not, it can't be booked later. While a booking is uncertain,
// the frame asks for its outcome by itself for some minutes, and then leaves it to the visitor.

export type Problem = "taken" | "unavailable" | "uncertain" | "offline" | "busy";

export type Submit = {
  readonly isSending: boolean;
  readonly problem: Problem | null;
  readonly faults: FormFaults;
  /** Counts refusals, so that screen readers read each one. */
  readonly refusals: number;
  send(): Promise<void>;
  /** The visitor has moved on. A booking that is being sent continues. */
  dismiss(): void;
  forget(): void;
};

type Parts = {
  frame: Frame;
  isTest: boolean;
  flow: Flow;
  change: (action: FlowAction) => void;
  times: FreeTimes;
  timeZone: string;
  onPaused: () => void;
  onChanged: () => void;
};

type State = Pick<Submit, "isSending" | "problem" | "faults" | "refusals">;

/** The server holds each of these requests for up to half a minute. */
const CHECK_PAUSES_MS = [2_000, 5_000, 10_000, 20_000, 30_000, 30_000];

const QUIET: State = { isSending: false, problem: null, faults: new Map(), refusals: 0 };

export function useSubmit(parts: Parts): Submit {
  const [state, setState] = useState<State>(QUIET);
  const sending = useRef(false);
  const attempts = useAttempts(parts.frame);
  const { frame, flow } = parts;
  const refuse = (change: Partial<State>) => setState({ ...QUIET, ...change, refusals: state.refusals + 1 });

  async function send(): Promise<void> {
    const wanted = toBookingParts(flow);
    if (sending.current || !wanted || !flow.service) return;
    const faults = checkForm(flow.values, flow.service, frame.texts);
    if (faults.size > 0) return refuse({ faults });

    sending.current = true;
    setState({ ...QUIET, isSending: true, refusals: state.refusals });
    const { attribution } = frame.context;
    const request: BookRequest = {
      visitId: frame.visit.id,
      ...wanted,
      timeZone: parts.timeZone,
      locale: frame.locale,
      isTest: parts.isTest,
      ...(attribution?.currentPage === undefined ? {} : { page: attribution.currentPage }),
      ...(attribution === undefined ? {} : { attribution }),
    };
    let { result, sent } = await attempts.book(request);
    for (const pauseMs of result.kind === "uncertain" ? CHECK_PAUSES_MS : []) {
      setState({ ...QUIET, isSending: true, problem: "uncertain", refusals: state.refusals + 1 });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const checked = await attempts.check();
      if (checked === null) {
        sending.current = false;
        return setState(QUIET);
      }
      result = checked;
      if (!isOutcomeUnknown(result) && result.kind !== "busy") break;
    }
    // The form stays on screen until the browser has moved, and must not book again.
    if (result.kind === "booked") await frame.steps.rewind();
    else frame.bridge.post({ type: "failed", code: toCode(result) });
    const refusal = settle(parts, result, sent);
    sending.current = false;
    if (refusal) refuse(refusal);
    else setState(QUIET);
  }

  return {
    ...state,
    send,
    dismiss: () => setState({ ...QUIET, isSending: sending.current, refusals: state.refusals }),
    forget: () => {
      attempts.forget();
      setState(QUIET);
    },
  };
}

/** Remembers the attempt whose outcome is unknown. */
function useAttempts({ api }: Frame) {
  const unknown = useRef<Attempt | null>(null);

  async function attempt(next: Attempt, isAbandoned = false): Promise<BookResult> {
    const result = await api.book({ ...next.request, isAbandoned }, next.key);
    // A rate-limited request was not looked at, so we know as much as before.
    if (result.kind !== "busy") unknown.current = isOutcomeUnknown(result) ? next : null;
    return result;
  }

  async function book(request: BookRequest): Promise<{ result: BookResult; sent: BookRequest }> {
    const earlier = unknown.current;
    if (earlier && !isSameBooking(earlier.request, request)) {
      const result = await attempt(earlier, true);
      if (result.kind === "booked" || unknown.current) return { result, sent: earlier.request };
    }
    const next = unknown.current ?? { key: makeUuid(), request };
    return { result: await attempt(next), sent: next.request };
  }

  /** Asks again what became of the attempt. Null if the visitor has started over. */
  async function check(): Promise<BookResult | null> {
    return unknown.current && (await attempt(unknown.current));
  }

  const forget = () => {
    unknown.current = null;
  };
  return { book, check, forget };
}

/** Moves the visitor on. Returns what the form must say, or null when the visitor has left it. */
function settle(parts: Parts, result: BookResult, sent: BookRequest): Partial<State> | null {
  const { frame, flow, change } = parts;
  const chooseAgain = () => {
    frame.context.prefill = flow.values;
    parts.onChanged();
    return null;
  };
  switch (result.kind) {
    case "booked": {
      const booked = toBooked(flow, result.response);
      const { reference, service, start } = booked;
      frame.bridge.post({ type: "booked", reference, serviceName: service.name, start });
      change({ type: "entered", values: { email: sent.customer.email } });
      change({ type: "booked", booked });
      return null;
    }
    case "taken":
      parts.times.leaveOut({ start: flow.slot?.start ?? "", fresh: result.fresh });
      change({ type: "slotChosen", slot: null });
      change({ type: "wentTo", step: "time" });
      return { problem: "taken" };
    case "fields": {
      // A browser or password manager filled in the hidden field; the next try is sent without it.
      if ("website" in result.fields) {
        change({ type: "entered", values: { website: "" } });
        return { problem: "unavailable" };
      }
      const faults = flow.service && toFormFaults(Object.keys(result.fields), flow.service, frame.texts);
      return faults ? { faults } : chooseAgain();
    }
    case "changed":
      return chooseAgain();
    case "paused":
      parts.onPaused();
      return null;
    case "unavailable":
    case "uncertain":
    case "busy":
    case "offline":
      return { problem: result.kind };
    default:
      return result satisfies never;
  }
}

type Attempt = { readonly key: string; readonly request: BookRequest };

function isOutcomeUnknown(result: BookResult): boolean {
  return result.kind === "offline" || result.kind === "uncertain";
}

function isSameBooking(one: BookRequest, other: BookRequest): boolean {
  const toText = ({ serviceId, start, staffId, customer, answers }: BookRequest) =>
    JSON.stringify([serviceId, start, staffId, customer, answers]);
  return toText(one) === toText(other);
}

function toCode(result: Exclude<BookResult, { kind: "booked" }>): string {
  switch (result.kind) {
    case "taken":
      return "slot_taken";
    case "fields":
      return "invalid_fields";
    case "paused":
      return "widget_paused";
    case "changed":
      return "widget_changed";
    case "busy":
      return "rate_limited";
    case "unavailable":
      return "scheduler_unavailable";
    case "uncertain":
      return "booking_uncertain";
    case "offline":
      return "network";
    default:
      return result satisfies never;
  }
}
