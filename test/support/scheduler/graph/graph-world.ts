// For tests: the business of graph-server.ts. Its clock stands at noon on a Sunday; Berlin is an hour ahead of UTC.

export const GRAPH_NOW = new Date("2026-11-01T12:00:00.000Z");
export const BUSINESS_ID = "lindenhof@example.com";

const WORKING_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"];

export const business = {
  id: BUSINESS_ID,
  displayName: "Lindenhof Dental",
  publicUrl: "https://outlook.office365.com/owa/calendar/lindenhof@example.com/bookings/",
  businessHours: [
    ...WORKING_DAYS.map((day) => ({
      day,
      timeSlots: [{ startTime: "09:00:00.0000000", endTime: "17:00:00.0000000" }],
    })),
    { day: "saturday", timeSlots: [] },
    { day: "sunday", timeSlots: [] },
  ],
  schedulingPolicy: {
    timeSlotInterval: "PT30M",
    minimumLeadTime: "PT1H",
    maximumAdvance: "P60D",
    allowStaffSelection: true,
    sendConfirmationsToOwner: true,
  },
  bookingPageSettings: { businessTimeZone: "W. Europe Standard Time", accessControl: "unrestricted" },
};

export const staffMembers = [
  { id: "s-ada", displayName: "Ada Winter", emailAddress: "ada@example.com", role: "administrator", timeZone: "" },
  { id: "s-ben", displayName: "Ben Sommer", emailAddress: "ben@example.com", role: "teamMember", timeZone: "" },
];

export const customQuestions = [
  { id: "q-what", displayName: "What is it about?", answerInputType: "text", answerOptions: [] },
  { id: "q-pain", displayName: "Does it hurt?", answerInputType: "radioButton", answerOptions: ["Yes", "No"] },
];

type WorldService = {
  id: string;
  displayName: string;
  defaultDuration: string;
  staffMemberIds: string[];
  customQuestions: { questionId: string; isRequired: boolean }[];
  isLocationOnline: boolean;
  isHiddenFromCustomers: boolean;
  maximumAttendeesCount: number;
  schedulingPolicy: (Record<string, unknown> & { allowStaffSelection?: boolean }) | null;
  preBuffer: string;
  postBuffer: string;
  isCustomerAllowedToManageBooking: boolean;
  defaultLocation: Record<string, unknown> | null;
  defaultReminders: Record<string, unknown>[];
  additionalInformation?: string;
};

function service(id: string, changes: Partial<WorldService>): WorldService {
  return {
    id,
    displayName: id,
    defaultDuration: "PT30M",
    staffMemberIds: ["s-ada"],
    customQuestions: [],
    isLocationOnline: false,
    isHiddenFromCustomers: false,
    maximumAttendeesCount: 1,
    schedulingPolicy: { allowStaffSelection: false },
    preBuffer: "PT0S",
    postBuffer: "PT0S",
    isCustomerAllowedToManageBooking: true,
    defaultLocation: null,
    defaultReminders: [],
    ...changes,
  };
}

const hours = (day: string, startTime: string, endTime: string) => ({
  day,
  timeSlots: [{ startTime: `${startTime}:00.0000000`, endTime: `${endTime}:00.0000000` }],
});

export const PRACTICE = { displayName: "Practice", address: { street: "Lindenstrasse 1", city: "Berlin" } };
export const REMINDERS = [{ offset: "P1D", recipients: "customer", message: "See you tomorrow" }];

export const services = [
  service("check-up", { displayName: "Check-up" }),
  // Follows the business's policy.
  service("choose", { displayName: "Cleaning", staffMemberIds: ["s-ada", "s-ben"], schedulingPolicy: null }),
  service("online", { displayName: "Video call", isLocationOnline: true, staffMemberIds: ["s-ben"] }),
  service("first", {
    displayName: "First visit",
    defaultDuration: "PT1H",
    postBuffer: "PT15M",
    isCustomerAllowedToManageBooking: false,
    defaultLocation: PRACTICE,
    defaultReminders: REMINDERS,
    additionalInformation: "Please bring your insurance card.",
    customQuestions: [
      { questionId: "q-what", isRequired: true },
      { questionId: "q-pain", isRequired: false },
    ],
  }),
  service("group", { displayName: "Class", maximumAttendeesCount: 3, staffMemberIds: ["s-ben"] }),
  service("fridays", {
    displayName: "Fridays",
    schedulingPolicy: {
      allowStaffSelection: false,
      generalAvailability: {
        availabilityType: "customWeeklyHours",
        businessHours: [hours("friday", "10:15", "12:00"), hours("saturday", "10:00", "12:00")],
      },
      customAvailabilities: [
        { availabilityType: "notBookable", businessHours: [], startDate: "2026-11-13", endDate: "2026-11-13" },
      ],
    },
  }),
  service("fair", {
    displayName: "Fair week",
    schedulingPolicy: {
      allowStaffSelection: false,
      generalAvailability: { availabilityType: "notBookable", businessHours: [] },
      customAvailabilities: [
        { availabilityType: "bookWhenStaffAreFree", businessHours: [], startDate: "2026-11-04", endDate: "2026-11-05" },
      ],
    },
  }),
  service("hidden", { displayName: "Internal", isHiddenFromCustomers: true }),
];
