import { OFFERED, toHttpsLink } from "../reply-limits.ts";
import { found, type OfferedService, type Question, type Read, type StaffMember } from "../scheduling-system.ts";
import type { WeeklyHours } from "../weekly-hours.ts";
import type { Graph } from "./graph.ts";
import { toIanaZone, toMinutes } from "./graph-time.ts";
import { type CustomQuestion, type SchedulingPolicy, type Service, shapes, type WorkHours } from "./shapes.ts";

// What a business offers, read as a whole and kept for a minute: the business with its hours and policy, the services that
// customers may see with their questions, and the names of the staff.

export type Catalog = {
  readonly businessName: string;
  readonly bookingUrl: string | null;
  /** Null if Graph names a zone that we don't know. */
  readonly timeZone: string | null;
  /** Null when the business has no hours: it is open whenever staff are free. */
  readonly hours: readonly WeeklyHours[] | null;
  readonly services: readonly GraphService[];
  /** How many more services customers may see. No more are read than can be offered. */
  readonly unreadCount: number;
  readonly staff: readonly StaffMember[];
};

export type GraphService = {
  readonly offered: OfferedService;
  /** The service as Graph describes it; parts of it are copied into appointments. */
  readonly service: Service;
  readonly availability: Availability;
  readonly staffIds: readonly string[];
  readonly questionInputs: Readonly<Record<string, CustomQuestion>>;
  /** How many people can book one time with one member of staff; more than 1 for groups. */
  readonly seatCount: number;
  readonly preBufferMinutes: number;
  readonly postBufferMinutes: number;
  readonly stepMinutes: number;
  readonly leadMinutes: number;
  readonly advanceMinutes: number;
};

/** Narrows the hours of the business. */
export type Availability = {
  /** "always": whenever the business is open and staff are free. */
  readonly general: ServiceHours;
  /** Override the general hours on their days; the last one wins. */
  readonly windows: readonly { readonly firstDay: string; readonly lastDay: string; readonly hours: ServiceHours }[];
};
export type ServiceHours = "always" | readonly WeeklyHours[];

const STEP_FALLBACK_MINUTES = 30;
const STEP_MIN_MINUTES = 5;
const ADVANCE_FALLBACK_MINUTES = 365 * 24 * 60;

export async function readCatalog(graph: Graph, signal: AbortSignal): Promise<Read<Catalog>> {
  const [business, services, staffMembers, questions] = await Promise.all([
    graph.read("", shapes.business, signal),
    readServices(graph, signal),
    graph.list("/staffMembers", shapes.staffMembers, signal),
    graph.list("/customQuestions", shapes.customQuestions, signal),
  ]);
  if (business.kind !== "found") return business;
  if (services.kind !== "found") return services;
  if (staffMembers.kind !== "found") return staffMembers;
  const staff = staffMembers.value.map(({ id, displayName }) => ({ id, name: displayName ?? "" }));
  // With application permissions this list has been seen to fail while everything else works; then nothing is asked.
  const askable = new Map(questions.kind === "found" ? questions.value.map((question) => [question.id, question]) : []);
  return found({
    businessName: business.value.displayName ?? "",
    bookingUrl: toHttpsLink(business.value.publicUrl),
    timeZone: toIanaZone(business.value.bookingPageSettings?.businessTimeZone ?? "UTC"),
    hours: business.value.businessHours ? toWeeklyHours(business.value.businessHours) : null,
    unreadCount: services.value.unreadCount,
    services: services.value.services
      .filter((service) => (toMinutes(service.defaultDuration) ?? 0) > 0)
      .map((service) => toGraphService(service, { policy: business.value.schedulingPolicy ?? {}, staff, askable })),
    staff,
  });
}

/** The list leaves out questions and reminders, so every visible service is read individually. */
async function readServices(
  graph: Graph,
  signal: AbortSignal,
): Promise<Read<{ services: Service[]; unreadCount: number }>> {
  const listed = await graph.list("/services", shapes.services, signal);
  if (listed.kind !== "found") return listed;
  const visible = listed.value.filter(({ isHiddenFromCustomers }) => isHiddenFromCustomers !== true);
  const offered = visible.slice(0, OFFERED.services);
  const reads = await Promise.all(
    offered.map(({ id }) => graph.read(`/services/${encodeURIComponent(id)}`, shapes.service, signal)),
  );
  const services: Service[] = [];
  for (const read of reads) {
    if (read.kind !== "found") return read;
    services.push(read.value);
  }
  return found({ services, unreadCount: visible.length - offered.length });
}

function toGraphService(
  service: Service,
  context: {
    policy: SchedulingPolicy;
    staff: readonly StaffMember[];
    askable: ReadonlyMap<string, CustomQuestion>;
  },
): GraphService {
  // A service that follows the business's policy has only a part of its own, or none at all.
  const own = service.schedulingPolicy ?? {};
  const { policy, staff, askable } = context;
  const staffIds = service.staffMemberIds ?? [];
  const allowsChoice = own.allowStaffSelection ?? policy.allowStaffSelection ?? false;
  const members = allowsChoice ? staff.filter(({ id }) => staffIds.includes(id)) : [];
  const asked = (service.customQuestions ?? []).flatMap(({ questionId, isRequired }) => {
    const input = askable.get(questionId);
    return input ? [{ input, required: isRequired === true }] : [];
  });
  const step = toMinutes(own.timeSlotInterval) ?? toMinutes(policy.timeSlotInterval) ?? STEP_FALLBACK_MINUTES;
  return {
    offered: {
      id: service.id,
      name: service.displayName ?? "",
      description: service.description || null,
      durationMinutes: toMinutes(service.defaultDuration) ?? 0,
      isOnline: service.isLocationOnline === true,
      staff: members,
      staffSelectable: members.length > 0,
      questions: asked.map(({ input, required }) => toQuestion(input, required)),
    },
    service,
    availability: toAvailability({ ...policy, ...dropNulls(own) }),
    staffIds,
    questionInputs: Object.fromEntries(asked.map(({ input }) => [input.id, input])),
    seatCount: Math.max(service.maximumAttendeesCount ?? 1, 1),
    preBufferMinutes: toMinutes(service.preBuffer) ?? 0,
    postBufferMinutes: toMinutes(service.postBuffer) ?? 0,
    stepMinutes: Math.max(step, STEP_MIN_MINUTES),
    leadMinutes: toMinutes(own.minimumLeadTime) ?? toMinutes(policy.minimumLeadTime) ?? 0,
    advanceMinutes: toMinutes(own.maximumAdvance) ?? toMinutes(policy.maximumAdvance) ?? ADVANCE_FALLBACK_MINUTES,
  };
}

function toQuestion(input: CustomQuestion, required: boolean): Question {
  const isChoice = input.answerInputType === "radioButton";
  return {
    id: input.id,
    label: input.displayName ?? "",
    type: isChoice ? "choice" : "text",
    options: isChoice ? (input.answerOptions ?? []) : [],
    required,
  };
}

function toAvailability({ generalAvailability, customAvailabilities }: SchedulingPolicy): Availability {
  return {
    general: toServiceHours(generalAvailability ?? {}),
    windows: (customAvailabilities ?? []).map((window) => ({
      firstDay: window.startDate.slice(0, DAY_LENGTH),
      lastDay: window.endDate.slice(0, DAY_LENGTH),
      hours: toServiceHours(window),
    })),
  };
}

function toServiceHours(availability: {
  availabilityType?: string | null;
  businessHours?: WorkHours | null;
}): ServiceHours {
  switch (availability.availabilityType?.toLowerCase()) {
    case "notbookable":
      return [];
    case "customweeklyhours":
      return toWeeklyHours(availability.businessHours ?? []);
    default:
      return "always";
  }
}

function dropNulls(policy: SchedulingPolicy): SchedulingPolicy {
  return Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== null));
}

const DAY_LENGTH = "YYYY-MM-DD".length;
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** Graph's format is `08:00:00.0000000`; closing at midnight is `00:00:00.0000000`. */
function toWeeklyHours(hours: WorkHours): WeeklyHours[] {
  return hours.flatMap(({ day, timeSlots }) =>
    (timeSlots ?? []).map(({ startTime, endTime }) => ({
      weekday: WEEKDAYS.indexOf(day.toLowerCase()) + 1,
      opens: startTime.slice(0, 8),
      closes: endTime.slice(0, 8),
    })),
  );
}
