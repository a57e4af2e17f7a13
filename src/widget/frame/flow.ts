import type { BookRequest, BookResponse, ConfigResponse, FreeSlot } from "#contract/widgets/embed-api.ts";
import type { Prefill } from "#contract/widgets/frame-messages.ts";

// What the visitor has chosen and entered, and the current step. Pure: the views send actions, and going back loses
// nothing.

export type Service = ConfigResponse["services"][number];

const FLOW_STEPS = ["service", "staff", "time", "form", "done"] as const;
export type FlowStep = (typeof FLOW_STEPS)[number];

export type FormValues = {
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly notes: string;
  readonly answers: Readonly<Record<string, string>>;
  /** A hidden field that only programs fill in. */
  readonly website: string;
};

export type Flow = {
  readonly step: FlowStep;
  readonly service: Service | null;
  /** Null for anyone available. */
  readonly staffId: string | null;
  readonly slot: FreeSlot | null;
  readonly values: FormValues;
  readonly booked: Booked | null;
};

/** A confirmed booking, as it is shown. */
export type Booked = BookResponse & {
  readonly end: string;
  readonly service: { readonly id: string; readonly name: string };
};

export type FlowAction =
  | { type: "serviceChosen"; service: Service }
  | { type: "staffChosen"; staffId: string | null }
  | { type: "slotChosen"; slot: FreeSlot | null }
  | { type: "wentTo"; step: FlowStep }
  | { type: "entered"; values: Partial<FormValues> }
  | { type: "prefilled"; prefill: Prefill }
  | { type: "booked"; booked: Booked }
  | { type: "startedOver"; flow: Flow };

const NOTHING_ENTERED: FormValues = { name: "", email: "", phone: "", notes: "", answers: {}, website: "" };

/** Skips the choice if there is one service, or if the host page asked for one. */
export function startFlow(services: readonly Service[], wishes: { service?: string; prefill?: Prefill }): Flow {
  const only = services.length === 1 ? services[0] : services.find(({ id }) => id === wishes.service);
  const empty: Flow = {
    step: "service",
    service: null,
    staffId: null,
    slot: null,
    values: { ...NOTHING_ENTERED, ...wishes.prefill },
    booked: null,
  };
  return only ? changeFlow(empty, { type: "serviceChosen", service: only }) : empty;
}

/** After a booking is made, the visitor can only start over. */
export function changeFlow(flow: Flow, action: FlowAction): Flow {
  if (flow.booked && action.type !== "startedOver") return flow;
  switch (action.type) {
    case "serviceChosen": {
      const { service } = action;
      const step = hasStaffChoice(service) ? "staff" : "time";
      if (service.id === flow.service?.id) return { ...flow, service, step };
      return { ...flow, service, step, staffId: null, slot: null };
    }
    case "staffChosen": {
      const isSame = action.staffId === flow.staffId;
      return { ...flow, step: "time", staffId: action.staffId, slot: isSame ? flow.slot : null };
    }
    case "slotChosen":
      return { ...flow, slot: action.slot };
    case "wentTo":
      return { ...flow, step: action.step };
    case "entered":
      return { ...flow, values: { ...flow.values, ...action.values } };
    case "prefilled":
      return { ...flow, values: fillEmpty(flow.values, action.prefill) };
    case "booked":
      return { ...flow, step: "done", booked: action.booked };
    case "startedOver":
      return action.flow;
    default:
      return action satisfies never;
  }
}

/** What the response to a repeated request leaves out is what the visitor chose, unless they chose something else since. */
export function toBooked({ service, slot }: Flow, response: BookResponse): Booked {
  const { id } = response.service;
  const chosenEnd = slot?.start === response.start ? slot.end : response.start;
  const chosenName = service?.id === id ? service.name : "";
  return { ...response, end: response.end ?? chosenEnd, service: { id, name: response.service.name ?? chosenName } };
}

/** How far the visitor is. The number of steps stays the same, whether or not the chosen service has people to choose from. */
export function toProgress(services: readonly Service[], { step }: Flow): { step: number; of: number } | null {
  const steps = FLOW_STEPS.filter((each) => {
    if (each === "service") return services.length > 1;
    if (each === "staff") return services.some(hasStaffChoice);
    return each !== "done";
  });
  return step === "done" ? null : { step: steps.indexOf(step) + 1, of: steps.length };
}

/** The visitor's steps before the confirmation. */
export function listSteps(services: readonly Service[], flow: Flow): FlowStep[] {
  return FLOW_STEPS.filter((step) => {
    if (step === "service") return services.length > 1;
    if (step === "staff") return flow.service !== null && hasStaffChoice(flow.service);
    return step !== "done";
  });
}

export function toPreviousStep(services: readonly Service[], flow: Flow): FlowStep | null {
  const steps = listSteps(services, flow);
  return steps[steps.indexOf(flow.step) - 1] ?? null;
}

/** Whether Back or Forward may lead from here to that step. After a booking is made, they lead nowhere. */
export function leadsTo(services: readonly Service[], flow: Flow, to: { step: FlowStep; isBack: boolean }): boolean {
  const steps = listSteps(services, flow);
  const [here, there] = [steps.indexOf(flow.step), steps.indexOf(to.step)];
  if (here === -1 || there === -1) return false;
  if (to.isBack) return there < here;
  return there > here && flow.service !== null && (to.step !== "form" || flow.slot !== null);
}

/** What is sent to the server. Two tries with the same content are the same booking. */
export function toBookingParts(
  flow: Flow,
): Pick<BookRequest, "serviceId" | "start" | "staffId" | "customer" | "answers" | "website"> | null {
  const { service, slot, values, staffId } = flow;
  if (!service || !slot) return null;
  return {
    serviceId: service.id,
    start: slot.start,
    ...(staffId === null ? {} : { staffId }),
    customer: { name: values.name, email: values.email, phone: values.phone || null, notes: values.notes || null },
    answers: service.questions.flatMap(({ id }) => {
      const answer = values.answers[id] ?? "";
      return answer.trim() === "" ? [] : [{ questionId: id, answer }];
    }),
    ...(values.website === "" ? {} : { website: values.website }),
  };
}

/** Skips the choice if there is one member of staff. */
function hasStaffChoice(service: Service): boolean {
  return service.staffSelectable && service.staff.length > 1;
}

function fillEmpty(values: FormValues, prefill: Prefill): FormValues {
  const empty = Object.entries(prefill).filter(([name]) => values[name as keyof Prefill] === "");
  return { ...values, ...Object.fromEntries(empty) };
}
