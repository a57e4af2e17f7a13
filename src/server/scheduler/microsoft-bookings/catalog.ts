import { found, type OfferedService, type Question, type Read, type StaffMember } from "../scheduling-system.ts";
import type { WeeklyHours } from "../weekly-hours.ts";
import type { Graph } from "./graph.ts";
import { toMinutes } from "./graph-time.ts";
import { type Business, type CustomQuestion, type SchedulingPolicy, type Service, shapes } from "./shapes.ts";
import { toIanaZone } from "./windows-zones.ts";

// What a business offers, read whole and kept for a minute: the business with its hours and policy, the services that
// customers may see with their questions, and the names of the staff.

export type Catalog = {
  readonly businessName: string;
  readonly bookingUrl: string | null;
  /** Null where Graph names a zone that we do not know. */
  readonly timeZone: string | null;
  /** Null: no hours are set, so any time that staff are free. */
  readonly hours: readonly WeeklyHours[] | null;
  readonly services: readonly GraphService[];
  readonly staff: readonly StaffMember[];
};

export type GraphService = {
  readonly offered: OfferedService;
  readonly staffIds: readonly string[];
  readonly questionInputs: Readonly<Record<string, CustomQuestion>>;
  readonly isForGroups: boolean;
  readonly preBufferMinutes: number;
  readonly postBufferMinutes: number;
  readonly stepMinutes: number;
  readonly leadMinutes: number;
  readonly advanceMinutes: number;
};

const STEP_FALLBACK_MINUTES = 30;
const STEP_MIN_MINUTES = 5;
const ADVANCE_FALLBACK_MINUTES = 365 * 24 * 60;
/** Services are read one by one for their questions, a few at a time. */
const READS_AT_ONCE = 4;

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
  // With application permissions this list has been seen to fail while all else worked; then no question can be asked.
  const askable = new Map(questions.kind === "found" ? questions.value.map((question) => [question.id, question]) : []);
  return found({
    businessName: business.value.displayName ?? "",
    bookingUrl: business.value.publicUrl ?? null,
    timeZone: toIanaZone(business.value.bookingPageSettings?.businessTimeZone ?? "UTC"),
    hours: toHours(business.value),
    services: services.value
      .filter((service) => service.isHiddenFromCustomers !== true && (toMinutes(service.defaultDuration) ?? 0) > 0)
      .map((service) => toGraphService(service, { policy: business.value.schedulingPolicy ?? {}, staff, askable })),
    staff,
  });
}

/** The list leaves the questions of a service out; the service itself has them. */
async function readServices(graph: Graph, signal: AbortSignal): Promise<Read<Service[]>> {
  const listed = await graph.list("/services", shapes.services, signal);
  if (listed.kind !== "found") return listed;
  const whole: Service[] = [];
  for (let start = 0; start < listed.value.length; start += READS_AT_ONCE) {
    const batch = listed.value.slice(start, start + READS_AT_ONCE);
    const reads = await Promise.all(
      batch.map(async (service) =>
        service.customQuestions || service.isHiddenFromCustomers
          ? found(service)
          : await graph.read(`/services/${encodeURIComponent(service.id)}`, shapes.service, signal),
      ),
    );
    for (const read of reads) {
      if (read.kind !== "found") return read;
      whole.push(read.value);
    }
  }
  return found(whole);
}

function toGraphService(
  service: Service,
  context: {
    policy: SchedulingPolicy;
    staff: readonly StaffMember[];
    askable: ReadonlyMap<string, CustomQuestion>;
  },
): GraphService {
  // A service that follows the business's policy has only a part of its own, or none.
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
    staffIds,
    questionInputs: Object.fromEntries(asked.map(({ input }) => [input.id, input])),
    isForGroups: (service.maximumAttendeesCount ?? 1) > 1,
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

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** Graph's own words: `08:00:00.0000000`, and midnight at the end as `00:00:00.0000000`. */
function toHours(business: Business): WeeklyHours[] | null {
  if (!business.businessHours) return null;
  return business.businessHours.flatMap(({ day, timeSlots }) =>
    (timeSlots ?? []).map(({ startTime, endTime }) => ({
      weekday: WEEKDAYS.indexOf(day.toLowerCase()) + 1,
      opens: startTime.slice(0, 8),
      closes: endTime.slice(0, 8),
    })),
  );
}
