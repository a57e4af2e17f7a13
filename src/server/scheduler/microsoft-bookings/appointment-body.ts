import { MINUTE_MS } from "#contract/durations.ts";
import type { BookRequest } from "../scheduling-system.ts";
import type { GraphService } from "./catalog.ts";
import { toGraphTime } from "./graph-time.ts";
import { toWindowsZone } from "./windows-zones.ts";

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
export function toAppointmentBody(
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
