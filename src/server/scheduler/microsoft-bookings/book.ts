import { MINUTE_MS } from "#contract/durations.ts";
import type { OutboundReply } from "../outbound.ts";
import { isFailure, readReply, toCanceled, toFailure } from "../read-reply.ts";
import {
  type BookOutcome,
  type BookRequest,
  type Failure,
  type FindOutcome,
  found,
  type Read,
} from "../scheduling-system.ts";
import { type SystemLookups, settleFault, settleReply } from "../settle-reply.ts";
import type { Catalog, GraphService } from "./catalog.ts";
import { toBooked } from "./follow.ts";
import { countSeats, isGroup, mayHaveStaff, toTaken } from "./free-times.ts";
import type { Graph } from "./graph.ts";
import { toGraphTime, toStart, toWindowsZone } from "./graph-time.ts";
import { type Appointment, shapes } from "./shapes.ts";

// Makes an appointment. Graph checks neither hours nor lead time nor, reliably, whether the time is taken. So the time is
// checked right before, and the calendar is read again right after: of two overlapping appointments, the one created first
// stays and the other is cancelled. Of a group's appointments at one time, those created first stay, as many as there are
// seats. Graph has no idempotency key and answers 500 to nearly every mistake, so after such an
// answer the calendar decides what happened.

type BookDeps = {
  readonly graph: Graph;
  readonly catalog: Catalog;
  readonly service: GraphService;
  /** Looks for the appointment with the request's reference. */
  readonly find: () => Promise<FindOutcome>;
  /** Everyone who is free at the request's time and offered and, if the visitor chose someone, is that person. */
  readonly listFreeStaff: () => Promise<Read<readonly string[]>>;
  /** Appointments at the request's time and next to it. */
  readonly listNearby: () => Promise<Read<readonly Appointment[]>>;
};

export async function bookAppointment(deps: BookDeps, request: BookRequest, signal: AbortSignal): Promise<BookOutcome> {
  const lost = new Set<string>();
  let customer: Read<string | null> | null = null;
  for (;;) {
    const free = await deps.listFreeStaff();
    if (free.kind !== "found") return free;
    const staffId = chooseStaff(
      free.value.filter((id) => !lost.has(id)),
      request.reference,
    );
    if (staffId === null) return { kind: "slot_taken" };
    customer ??= await readCustomerId(deps, request, signal);
    if (customer.kind !== "found") return customer;
    const outcome = await bookWith(deps, { request, customerId: customer.value, staffId }, signal);
    // Someone else just got this member of staff. Another one may still be free.
    if (outcome.kind !== "slot_taken") return outcome;
    lost.add(staffId);
  }
}

type Wanted = { request: BookRequest; customerId: string | null; staffId: string };

/** `slot_taken`: this member of staff is no longer free, and no appointment was left behind. */
async function bookWith(deps: BookDeps, wanted: Wanted, signal: AbortSignal): Promise<BookOutcome> {
  const reply = await sendAppointment(deps, wanted, signal);
  if (isFailure(reply)) return reply;
  const lookups: SystemLookups = {
    find: deps.find,
    isFree: async () => {
      const free = await deps.listFreeStaff();
      return free.kind === "found" ? found(free.value.includes(wanted.staffId)) : free;
    },
  };
  return await settleReply(reply, {
    shape: shapes.appointment,
    lookups,
    settleMade: (appointment) => settleRace(deps, { appointment, wanted }, signal),
    settleRefusal: async (refusal) =>
      refusal.status === 409 ? await settleFault(refusal, lookups) : toFailure(refusal),
  });
}

/** Spreads appointments over the free staff; visitors who book the same time at once mostly get different people. */
function chooseStaff(free: readonly string[], reference: string): string | null {
  const sum = [...reference].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0);
  return free[sum % free.length] ?? null;
}

/**
 * With application permissions, Graph rejects an appointment without staff ("Invalid Staff", microsoft-graph-docs 22029).
 * Its business rules also say that a service has to allow choosing staff before any can be sent. So an appointment that is
 * rejected with staff is sent once more without, unless the visitor chose the person. A 400 means that nothing was made.
 */
async function sendAppointment(
  { graph, catalog, service }: BookDeps,
  { request, customerId, staffId }: Wanted,
  signal: AbortSignal,
): Promise<OutboundReply | Failure> {
  const send = (sentStaffId: string | null) =>
    graph.post(
      "/appointments",
      toAppointmentBody(service, request, { customerId, staffId: sentStaffId, timeZone: catalog.timeZone }),
      signal,
    );
  const reply = await send(staffId);
  const isRejected = reply.kind === "reply" && reply.status === 400;
  return isRejected && request.staffId === null && !service.offered.staffSelectable ? await send(null) : reply;
}

/** A group service needs an existing customer; otherwise one is created. If customers can't be searched, a new one is. */
async function readCustomerId(
  { graph, service }: BookDeps,
  { customer }: BookRequest,
  signal: AbortSignal,
): Promise<Read<string | null>> {
  if (service.seatCount === 1) return found(null);
  const filter = `emailAddress eq '${customer.email.replaceAll("'", "''")}'`;
  const path = `/customers?${new URLSearchParams({ $filter: filter })}`;
  const known = await graph.list(path, shapes.customers, signal);
  if (known.kind === "unavailable") return known;
  const isSame = ({ emailAddress }: { emailAddress?: string | null }) =>
    emailAddress?.toLowerCase() === customer.email.toLowerCase();
  const existing = known.kind === "found" ? known.value.find(isSame) : undefined;
  if (existing) return found(existing.id);
  const body = {
    "@odata.type": "#microsoft.graph.bookingCustomer",
    displayName: customer.name,
    emailAddress: customer.email,
  };
  const reply = await graph.post("/customers", body, signal);
  if (isFailure(reply)) return reply;
  const read = readReply(reply, shapes.customer);
  return read.kind === "found" ? found(read.value.id) : read;
}

/**
 * The appointment that was created first keeps its time: the second one sees the first when it reads the calendar
 * again, whether or not the first saw the second. If the calendar cannot be read, or the second appointment cannot be
 * cancelled, it exists and counts as booked.
 */
async function settleRace(
  { graph, catalog, service, listNearby }: BookDeps,
  { appointment, wanted }: { appointment: Appointment; wanted: Wanted },
  signal: AbortSignal,
): Promise<BookOutcome> {
  const booked: BookOutcome = { kind: "booked", booked: toBooked(catalog, appointment, wanted.request) };
  const nearby = await listNearby();
  if (nearby.kind !== "found") return booked;
  const own = nearby.value.find(({ id }) => id === appointment.id) ?? appointment;
  // Made without staff, it needs the member who was free.
  const staffIds = own.staffMemberIds?.length ? own.staffMemberIds : [wanted.staffId];
  const rivals = nearby.value.filter(
    (other) =>
      overlaps(other, own) &&
      isCreatedBefore(other, own) &&
      staffIds.some((staffId) => mayHaveStaff(catalog, other, staffId)),
  );
  const companions = rivals.filter((other) => isCompanion(other, own, service));
  const isBeaten = rivals.length > companions.length || countSeats(companions) >= service.seatCount;
  if (!isBeaten) return booked;
  const canceled = await cancelAppointment(graph, { id: own.id, message: "This time was just taken." }, signal);
  return canceled.kind === "found" ? { kind: "slot_taken" } : booked;
}

function overlaps(other: Appointment, own: Appointment): boolean {
  const [taken, otherTaken] = [toTaken(own), toTaken(other)];
  if (other.id === own.id || !taken || !otherTaken) return false;
  return otherTaken.startMs < taken.endMs && otherTaken.endMs > taken.startMs;
}

/** Whether both are of one group, so that there may be a seat for each. */
function isCompanion(other: Appointment, own: Appointment, service: GraphService): boolean {
  const [start, otherStart] = [toStart(own), toStart(other)];
  return isGroup(own, service) && isGroup(other, service) && start?.getTime() === otherStart?.getTime();
}

/** An appointment without a creation time counts as the older one. The id decides between equal times. */
function isCreatedBefore(other: Appointment, own: Appointment): boolean {
  const [otherMs, ownMs] = [toCreatedMs(other), toCreatedMs(own)];
  return otherMs === ownMs ? other.id < own.id : otherMs < ownMs;
}

export function toCreatedMs({ createdDateTime }: Appointment): number {
  return Date.parse(createdDateTime ?? "") || 0;
}

/** Cancelling sends the customer a message but needs its own permission; without it, the appointment is deleted. */
export async function cancelAppointment(
  graph: Graph,
  { id, message }: { id: string; message: string },
  signal: AbortSignal,
): Promise<Read<"canceled">> {
  const path = `/appointments/${encodeURIComponent(id)}`;
  const reply = await graph.post(`${path}/cancel`, { cancellationMessage: message }, signal);
  if (isFailure(reply)) return reply;
  if (reply.kind !== "reply" || reply.status !== 403) return toCanceled(reply);
  const deleted = await graph.remove(path, signal);
  return isFailure(deleted) ? deleted : toCanceled(deleted);
}

type AppointmentParts = {
  readonly customerId: string | null;
  readonly staffId: string | null;
  readonly timeZone: string | null;
};

/**
 * The body of a new appointment. Graph applies none of the service's defaults, so buffers, location and reminders are
 * copied. The reference is in the notes that staff see (serviceNotes) and, after the service's own text, in the customer's
 * email (additionalInformation). Graph keeps the customer's own notes only with a new customer; those of others go to the staff.
 */
function toAppointmentBody(
  { offered, service, seatCount, questionInputs }: GraphService,
  request: BookRequest,
  { customerId, staffId, timeZone }: AppointmentParts,
): unknown {
  const { customer, reference, startAt } = request;
  const zone = toWindowsZone(customer.timeZone) ?? toWindowsZone(timeZone ?? "UTC") ?? "UTC";
  const notes = customer.notes === null ? reference : `${customer.notes}\n${reference}`;
  return {
    "@odata.type": "#microsoft.graph.bookingAppointment",
    serviceId: offered.id,
    serviceName: offered.name,
    customerTimeZone: zone,
    startDateTime: toGraphTime(startAt),
    endDateTime: toGraphTime(new Date(startAt.getTime() + offered.durationMinutes * MINUTE_MS)),
    isLocationOnline: offered.isOnline,
    optOutOfCustomerEmail: false,
    isCustomerAllowedToManageBooking: service.isCustomerAllowedToManageBooking ?? true,
    ...(staffId === null ? {} : { staffMemberIds: [staffId] }),
    ...(service.preBuffer ? { preBuffer: service.preBuffer } : {}),
    ...(service.postBuffer ? { postBuffer: service.postBuffer } : {}),
    ...(service.defaultLocation ? { serviceLocation: service.defaultLocation } : {}),
    ...(service.defaultReminders ? { reminders: service.defaultReminders } : {}),
    ...(seatCount > 1 ? { maximumAttendeesCount: seatCount } : {}),
    serviceNotes: customerId === null ? reference : notes,
    additionalInformation: [service.additionalInformation, `Reference ${reference}`].filter(Boolean).join("\n\n"),
    customers: [
      {
        "@odata.type": "#microsoft.graph.bookingCustomerInformation",
        ...(customerId === null ? {} : { customerId }),
        name: customer.name,
        emailAddress: customer.email,
        ...(customer.phone === null ? {} : { phone: customer.phone }),
        notes,
        timeZone: zone,
        customQuestionAnswers: offered.questions.flatMap(({ id, label, type, options, required }) => {
          const given = request.answers.find(({ questionId }) => questionId === id);
          if (!given) return [];
          return {
            questionId: id,
            question: label,
            answerInputType: questionInputs[id]?.answerInputType ?? "text",
            answerOptions: options,
            isRequired: required,
            answer: given.answer,
            selectedOptions: type === "choice" ? [given.answer] : [],
          };
        }),
      },
    ],
  };
}
