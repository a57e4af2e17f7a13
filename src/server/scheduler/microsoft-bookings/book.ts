import { MINUTE_MS } from "#contract/durations.ts";
import { isSuccess, readReply, toFailure, toUnreadable, toUpstream } from "../read-reply.ts";
import { type BookOutcome, type BookRequest, found, type Read } from "../scheduling-system.ts";
import { settleFault } from "../settle-fault.ts";
import type { Catalog, GraphService } from "./catalog.ts";
import { type Graph, isFailure } from "./graph.ts";
import { toGraphTime } from "./graph-time.ts";
import { shapes } from "./shapes.ts";
import { toBooked } from "./to-booked.ts";

// Making an appointment. Graph takes an application at its word about times outside of hours, lead time and grid, so a slot
// is looked for before it is asked for. It has no idempotency key and answers 500 to nearly everything that is wrong, a
// slot taken meanwhile included, so what such an answer means is found out by looking, too.

type BookDeps = { graph: Graph; catalog: Catalog; service: GraphService };

export async function bookAppointment(
  deps: BookDeps,
  request: BookRequest,
  signal: AbortSignal,
  ask: Parameters<typeof settleFault>[1],
): Promise<BookOutcome> {
  const free = await ask.isFree();
  if (free.kind !== "found") return free;
  if (!free.value) return { kind: "slot_taken" };
  const customer = await readCustomerId(deps, request, signal);
  if (customer.kind !== "found") return customer;
  const reply = await deps.graph.post("/appointments", toAppointment(deps.service, request, customer.value), signal);
  if (isFailure(reply)) return reply;
  if (reply.kind === "failure") {
    return reply.wasSent ? { kind: "unknown", upstream: toUpstream(reply) } : toFailure(reply);
  }
  if (isSuccess(reply)) {
    const read = readReply(reply, shapes.appointment);
    if (read.kind !== "found") return { kind: "unknown", upstream: toUnreadable(reply) };
    return { kind: "booked", booked: toBooked(deps.catalog, read.value, request) };
  }
  const mayMeanAnything = reply.status === 409 || (reply.status >= 500 && reply.status !== 503);
  return mayMeanAnything ? await settleFault(reply, ask) : toFailure(reply);
}

/** A service for groups wants a customer that exists; otherwise one is made with the appointment. */
async function readCustomerId(
  { graph, service }: BookDeps,
  { customer }: BookRequest,
  signal: AbortSignal,
): Promise<Read<string | null>> {
  if (!service.isForGroups) return found(null);
  const body = { displayName: customer.name, emailAddress: customer.email };
  const reply = await graph.post("/customers", body, signal);
  if (isFailure(reply)) return reply;
  const read = readReply(reply, shapes.customer);
  return read.kind === "found" ? found(read.value.id) : read;
}

/**
 * The reference stands in the notes that staff see (serviceNotes) and in what the customer's mail says
 * (additionalInformation); the customer's own notes are kept only with a customer that is new.
 */
function toAppointment(service: GraphService, request: BookRequest, customerId: string | null): unknown {
  const { customer, reference, startAt } = request;
  const { offered } = service;
  return {
    "@odata.type": "#microsoft.graph.bookingAppointment",
    serviceId: offered.id,
    serviceName: offered.name,
    customerTimeZone: customer.timeZone,
    startDateTime: toGraphTime(startAt),
    endDateTime: toGraphTime(new Date(startAt.getTime() + offered.durationMinutes * MINUTE_MS)),
    isLocationOnline: offered.isOnline,
    optOutOfCustomerEmail: false,
    isCustomerAllowedToManageBooking: true,
    ...(request.staffId === null ? {} : { staffMemberIds: [request.staffId] }),
    serviceNotes: reference,
    additionalInformation: `Reference ${reference}`,
    customers: [
      {
        "@odata.type": "#microsoft.graph.bookingCustomerInformation",
        ...(customerId === null ? {} : { customerId }),
        name: customer.name,
        emailAddress: customer.email,
        ...(customer.phone === null ? {} : { phone: customer.phone }),
        notes: customer.notes === null ? reference : `${customer.notes}\n${reference}`,
        timeZone: customer.timeZone,
        customQuestionAnswers: toAnswers(service, request),
      },
    ],
  };
}

function toAnswers(service: GraphService, request: BookRequest): unknown[] {
  return service.offered.questions.flatMap(({ id, label, type, options, required }) => {
    const given = request.answers.find(({ questionId }) => questionId === id);
    if (!given) return [];
    return {
      questionId: id,
      question: label,
      answerInputType: service.questionInputs[id]?.answerInputType ?? "text",
      answerOptions: options,
      isRequired: required,
      answer: given.answer,
      selectedOptions: type === "choice" ? [given.answer] : [],
    };
  });
}
