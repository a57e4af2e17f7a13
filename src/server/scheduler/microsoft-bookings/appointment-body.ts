import { MINUTE_MS } from "#contract/durations.ts";
import type { BookRequest } from "../scheduling-system.ts";
import type { GraphService } from "./catalog.ts";
import { toGraphTime } from "./graph-time.ts";

/**
 * The body of a new appointment. Graph applies none of the service's defaults, so buffers, location and reminders are
 * copied. The reference is in the notes that staff see (serviceNotes) and in the customer's email (additionalInformation),
 * because the customer's own notes are kept only with a new customer.
 */
export function toAppointmentBody(
  { offered, service, seatCount, questionInputs }: GraphService,
  request: BookRequest,
  { customerId, staffId }: { customerId: string | null; staffId: string | null },
): unknown {
  const { customer, reference, startAt } = request;
  return {
    "@odata.type": "#microsoft.graph.bookingAppointment",
    serviceId: offered.id,
    serviceName: offered.name,
    customerTimeZone: customer.timeZone,
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
