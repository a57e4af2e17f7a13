import { type Static, type TSchema, Type } from "typebox";
import { shapeOf } from "../../lib/shape.ts";
import { OPTIONS_MAX, QUESTIONS_MAX, SERVICES_MAX, STAFF_MAX } from "../reply-limits.ts";

// The parts of Microsoft Graph's replies that we read. Graph omits or nulls everything that it may omit or null. Lists that
// take much computing are limited, because whoever connects a system can choose the server that answers as Graph.

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([type, Type.Null()]));

/** Days of a week, each at most twice. */
const DAYS_MAX = 14;
const TIME_SLOTS_MAX = 24;
const WINDOWS_MAX = 100;

const Duration = Type.String({ pattern: "^-?P" });
/** `08:00:00.0000000` */
const TimeOfDay = Type.String({ pattern: "^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d" });

const WorkHours = Type.Array(
  Type.Object({
    day: Type.String(),
    timeSlots: maybe(
      Type.Array(Type.Object({ startTime: TimeOfDay, endTime: TimeOfDay }), { maxItems: TIME_SLOTS_MAX }),
    ),
  }),
  { maxItems: DAYS_MAX },
);
export type WorkHours = Static<typeof WorkHours>;

/** `bookWhenStaffAreFree`, `notBookable` or `customWeeklyHours`. */
const Availability = { availabilityType: maybe(Type.String()), businessHours: maybe(WorkHours) };

const SchedulingPolicy = Type.Object({
  generalAvailability: maybe(Type.Object(Availability)),
  /** Overrides the general availability from the first to the last date. */
  customAvailabilities: maybe(
    Type.Array(Type.Object({ ...Availability, startDate: Type.String(), endDate: Type.String() }), {
      maxItems: WINDOWS_MAX,
    }),
  ),
  timeSlotInterval: maybe(Duration),
  minimumLeadTime: maybe(Duration),
  maximumAdvance: maybe(Duration),
  allowStaffSelection: maybe(Type.Boolean()),
});
export type SchedulingPolicy = Static<typeof SchedulingPolicy>;

const Business = Type.Object({
  displayName: maybe(Type.String()),
  publicUrl: maybe(Type.String()),
  businessHours: maybe(WorkHours),
  schedulingPolicy: maybe(SchedulingPolicy),
  bookingPageSettings: maybe(Type.Object({ businessTimeZone: maybe(Type.String()) })),
});

const Service = Type.Object({
  id: Type.String(),
  displayName: maybe(Type.String()),
  description: maybe(Type.String()),
  defaultDuration: Duration,
  preBuffer: maybe(Duration),
  postBuffer: maybe(Duration),
  isHiddenFromCustomers: maybe(Type.Boolean()),
  isLocationOnline: maybe(Type.Boolean()),
  isCustomerAllowedToManageBooking: maybe(Type.Boolean()),
  /** For the customer's confirmation. */
  additionalInformation: maybe(Type.String()),
  /** Copied into appointments as they are. */
  defaultLocation: maybe(Type.Record(Type.String(), Type.Unknown())),
  defaultReminders: maybe(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  staffMemberIds: maybe(Type.Array(Type.String(), { maxItems: STAFF_MAX })),
  maximumAttendeesCount: maybe(Type.Integer()),
  schedulingPolicy: maybe(SchedulingPolicy),
  customQuestions: maybe(
    Type.Array(Type.Object({ questionId: Type.String(), isRequired: maybe(Type.Boolean()) }), {
      maxItems: QUESTIONS_MAX,
    }),
  ),
});
export type Service = Static<typeof Service>;

const StaffMember = Type.Object({ id: Type.String(), displayName: maybe(Type.String()) });

const CustomQuestion = Type.Object({
  id: Type.String(),
  displayName: maybe(Type.String()),
  answerInputType: maybe(Type.String()),
  answerOptions: maybe(Type.Array(Type.String(), { maxItems: OPTIONS_MAX })),
});
export type CustomQuestion = Static<typeof CustomQuestion>;

const DateTimeTimeZone = Type.Object({ dateTime: Type.String(), timeZone: maybe(Type.String()) });
export type DateTimeTimeZone = Static<typeof DateTimeTimeZone>;

/** The wire has the long names, the resource's own table and the beta version the short ones. */
const Times = Type.Union([
  Type.Object({ startDateTime: DateTimeTimeZone, endDateTime: DateTimeTimeZone }),
  Type.Object({ start: DateTimeTimeZone, end: DateTimeTimeZone }),
]);
export type Times = Static<typeof Times>;

const StaffAvailability = Type.Array(
  Type.Object({
    staffId: maybe(Type.String()),
    availabilityItems: maybe(
      Type.Array(
        Type.Intersect([Type.Object({ status: maybe(Type.String()), serviceId: maybe(Type.String()) }), Times]),
      ),
    ),
  }),
  { maxItems: STAFF_MAX },
);
export type StaffAvailability = Static<typeof StaffAvailability>;

const AppointmentFields = Type.Object({
  id: Type.String(),
  serviceId: maybe(Type.String()),
  serviceName: maybe(Type.String()),
  preBuffer: maybe(Duration),
  postBuffer: maybe(Duration),
  staffMemberIds: maybe(Type.Array(Type.String())),
  joinWebUrl: maybe(Type.String()),
  anonymousJoinWebUrl: maybe(Type.String()),
  serviceNotes: maybe(Type.String()),
  additionalInformation: maybe(Type.String()),
  createdDateTime: maybe(Type.String()),
  filledAttendeesCount: maybe(Type.Integer()),
});
const Appointment = Type.Intersect([AppointmentFields, Times]);
export type Appointment = Static<typeof Appointment>;

const listOf = <T extends TSchema>(item: T, maxItems?: number) =>
  shapeOf(
    Type.Object({
      value: Type.Array(item, maxItems === undefined ? {} : { maxItems }),
      "@odata.nextLink": maybe(Type.String()),
    }),
  );

export const shapes = {
  token: shapeOf(
    Type.Object({ access_token: Type.String({ pattern: "^[\\x21-\\x7e]+$" }), expires_in: Type.Number() }),
  ),
  business: shapeOf(Business),
  services: listOf(Service, SERVICES_MAX),
  service: shapeOf(Service),
  staffMembers: listOf(StaffMember, STAFF_MAX),
  customQuestions: listOf(CustomQuestion),
  customer: shapeOf(Type.Object({ id: Type.String() })),
  customers: listOf(Type.Object({ id: Type.String(), emailAddress: maybe(Type.String()) })),
  appointments: listOf(Appointment),
  appointment: shapeOf(Appointment),
  /** The documents and the service use different names for the list. */
  staffAvailability: shapeOf(
    Type.Union([Type.Object({ value: StaffAvailability }), Type.Object({ staffAvailabilityItem: StaffAvailability })]),
  ),
};
