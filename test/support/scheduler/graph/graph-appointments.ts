import { services } from "./graph-world.ts";

// What Microsoft Graph knows about appointments: which are valid, and how many seats a time has left.

export type GraphAppointment = {
  id: string;
  serviceId: string;
  staffMemberIds: string[];
  startDateTime: { dateTime: string; timeZone: string };
  endDateTime: { dateTime: string; timeZone: string };
  serviceNotes: string;
  additionalInformation: string;
  createdDateTime: string;
  filledAttendeesCount: number;
  serviceLocation?: unknown;
  reminders?: unknown;
  preBuffer?: string;
  postBuffer?: string;
  isCustomerAllowedToManageBooking?: boolean;
  customers: {
    customerId?: string;
    name: string;
    emailAddress: string;
    notes: string;
    timeZone: string;
    customQuestionAnswers: { questionId: string; answer: string; selectedOptions: string[] }[];
  }[];
};

const WINDOWS_ZONE = /^(UTC|[\w. ]+ Standard Time( \(.+\))?)$/;

/** The first field of a new appointment that doesn't match the documentation. */
export function findInvalidField(
  wanted: GraphAppointment & Record<string, unknown>,
  service: (typeof services)[number],
): string | null {
  const durationMs = toMs(wanted.endDateTime) - toMs(wanted.startDateTime);
  const [customer] = wanted.customers;
  const checks: Record<string, boolean> = {
    "@odata.type": wanted["@odata.type"] === "#microsoft.graph.bookingAppointment",
    start: "start" in wanted === false && "end" in wanted === false,
    startDateTime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}\+00:00$/.test(wanted.startDateTime.dateTime),
    timeZone: wanted.startDateTime.timeZone === "UTC" && wanted.endDateTime.timeZone === "UTC",
    duration: Temporal.Duration.from(service.defaultDuration).total("milliseconds") === durationMs,
    buffers: (wanted.preBuffer ?? "PT0S") === service.preBuffer && (wanted.postBuffer ?? "PT0S") === service.postBuffer,
    serviceNotes: wanted.additionalInformation.endsWith(`Reference ${wanted.serviceNotes.split("\n").at(-1)}`),
    additionalInformation: wanted.additionalInformation.startsWith(service.additionalInformation ?? ""),
    // Graph names zones as Windows does, and refuses IANA's names.
    customerTimeZone: [wanted["customerTimeZone"], customer?.timeZone].every((zone) => WINDOWS_ZONE.test(String(zone))),
    customers: wanted.customers.length === 1,
    customer: (customer as Record<string, unknown>)["@odata.type"] === "#microsoft.graph.bookingCustomerInformation",
    customerId: service.maximumAttendeesCount === 1 || customer?.customerId !== undefined,
    maximumAttendeesCount: (wanted["maximumAttendeesCount"] ?? 1) === service.maximumAttendeesCount,
    answers: service.customQuestions.every(
      ({ questionId, isRequired }) =>
        !isRequired || customer?.customQuestionAnswers.some((answer) => answer.questionId === questionId),
    ),
  };
  return Object.entries(checks).find(([, isRight]) => !isRight)?.[0] ?? null;
}

/** Whether the person has another appointment then, or the group has no seat left. */
export function isTaken(
  appointments: readonly GraphAppointment[],
  { staffId, wanted }: { staffId: string; wanted: GraphAppointment },
): boolean {
  const overlapping = appointments.filter(
    (other) =>
      other.staffMemberIds.includes(staffId) &&
      toMs(other.startDateTime) < toMs(wanted.endDateTime) &&
      toMs(other.endDateTime) > toMs(wanted.startDateTime),
  );
  const isOneGroup = overlapping.every(
    (other) => other.serviceId === wanted.serviceId && toMs(other.startDateTime) === toMs(wanted.startDateTime),
  );
  return !isOneGroup || (overlapping.length > 0 && countSeats(appointments, wanted) >= findSeatCount(wanted.serviceId));
}

export function countSeats(
  appointments: readonly GraphAppointment[],
  { serviceId, startDateTime }: GraphAppointment,
): number {
  return appointments
    .filter((other) => other.serviceId === serviceId && toMs(other.startDateTime) === toMs(startDateTime))
    .reduce((sum, { filledAttendeesCount }) => sum + filledAttendeesCount, 0);
}

export function findSeatCount(serviceId: string): number {
  return services.find(({ id }) => id === serviceId)?.maximumAttendeesCount ?? 1;
}

export function toMs(time: { dateTime: string }): number {
  return Temporal.Instant.from(/[+Z]/.test(time.dateTime.slice(19)) ? time.dateTime : `${time.dateTime}Z`)
    .epochMilliseconds;
}

/** What happens in Bookings' own calendar: a cancelled appointment is gone, a moved one keeps its id. */
export function changeThere(appointments: GraphAppointment[], reference: string, change: Date | "cancel"): void {
  const place = appointments.findIndex(({ serviceNotes }) => serviceNotes.includes(reference));
  const appointment = appointments[place];
  if (!appointment) return;
  if (change === "cancel") return void appointments.splice(place, 1);
  const lengthMs = toMs(appointment.endDateTime) - toMs(appointment.startDateTime);
  const toTime = (ms: number) => ({ dateTime: new Date(ms).toISOString().replace(/Z$/, "0000"), timeZone: "UTC" });
  appointment.startDateTime = toTime(change.getTime());
  appointment.endDateTime = toTime(change.getTime() + lengthMs);
}
