// For tests: the business that graph-server.ts plays. Its clock stands on a Sunday noon; Berlin is an hour ahead of UTC.

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
  schedulingPolicy: { allowStaffSelection?: boolean } | null;
  preBuffer: string;
  postBuffer: string;
};

function service(id: string, about: Partial<WorldService>): WorldService {
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
    ...about,
  };
}

export const services = [
  service("check-up", { displayName: "Check-up" }),
  // Follows the business's policy.
  service("choose", { displayName: "Cleaning", staffMemberIds: ["s-ada", "s-ben"], schedulingPolicy: null }),
  service("online", { displayName: "Video call", isLocationOnline: true, staffMemberIds: ["s-ben"] }),
  service("first", {
    displayName: "First visit",
    defaultDuration: "PT1H",
    postBuffer: "PT15M",
    customQuestions: [
      { questionId: "q-what", isRequired: true },
      { questionId: "q-pain", isRequired: false },
    ],
  }),
  service("group", { displayName: "Class", maximumAttendeesCount: 8, staffMemberIds: ["s-ben"] }),
  service("hidden", { displayName: "Internal", isHiddenFromCustomers: true }),
];
