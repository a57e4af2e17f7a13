// For tests: the user of calcom-server.ts. Their clock stands at noon on a Sunday; times are free Monday to Friday from 08:00
// to 16:00 UTC.

export const CALCOM_NOW = new Date("2026-11-01T12:00:00.000Z");

export const me = {
  id: 7,
  username: "lindenhof",
  email: "office@example.com",
  name: "Lindenhof Dental",
  timeZone: "Europe/Berlin",
  weekStart: "Monday",
  locale: "de",
};

const defaultFields = [
  { isDefault: true, type: "name", slug: "name", required: true },
  { isDefault: true, type: "email", slug: "email", required: true, hidden: false },
  { isDefault: true, type: "text", slug: "title", required: true, hidden: true },
  { isDefault: true, type: "textarea", slug: "notes", required: false, hidden: false },
  { isDefault: true, type: "multiemail", slug: "guests", required: false, hidden: false },
  { isDefault: true, type: "phone", slug: "attendeePhoneNumber", required: false, hidden: true },
];
const splitNameFields = [
  { isDefault: true, type: "splitName", slug: "splitName", lastNameRequired: true },
  ...defaultFields.slice(1),
];
/** A field as the API shows it when it has no type for it. */
const textMessageField = {
  type: "unknown",
  slug: "unknown",
  bookingField: JSON.stringify({
    name: "smsReminderNumber",
    type: "phone",
    editable: "system",
    required: true,
    hidden: true,
  }),
};

type WorldEventType = {
  id: number;
  title: string;
  slug: string;
  description: string;
  lengthInMinutes: number;
  bookingFields: Record<string, unknown>[];
  locations: Record<string, unknown>[];
  hidden: boolean;
  confirmationPolicy: Record<string, unknown>;
  recurrence: Record<string, unknown> | null;
  seats: Record<string, unknown>;
  bookingRequiresAuthentication: boolean;
  requiresBookerEmailVerification: boolean;
  price: number;
  metadata: { apps?: { stripe?: { enabled: boolean; price?: number } } };
  schedulingType: string | null;
  bookingUrl: string;
};

function eventType(id: number, title: string, changes: Partial<WorldEventType> = {}): WorldEventType {
  return {
    id,
    title,
    slug: `e${id}`,
    description: "",
    lengthInMinutes: 30,
    bookingFields: defaultFields,
    locations: [{ type: "address", address: "Lindenstrasse 1", public: true }],
    hidden: false,
    confirmationPolicy: { disabled: true },
    recurrence: null,
    seats: { disabled: true },
    bookingRequiresAuthentication: false,
    requiresBookerEmailVerification: false,
    price: 0,
    metadata: {},
    schedulingType: null,
    bookingUrl: `https://cal.com/lindenhof/e${id}`,
    ...changes,
  };
}

const asked = [
  { isDefault: false, type: "textarea", slug: "what", label: "What is it about?", required: true, hidden: false },
  {
    isDefault: false,
    type: "radio",
    slug: "pain",
    label: "Does it hurt?",
    options: ["Yes", "No"],
    required: false,
    hidden: false,
  },
  {
    isDefault: false,
    type: "multiselect",
    slug: "days",
    label: "Days",
    options: ["Mon"],
    required: false,
    hidden: false,
  },
];

const counted = {
  isDefault: false,
  type: "number",
  slug: "guests-count",
  label: "How many?",
  required: false,
  hidden: false,
};
const website = { isDefault: false, type: "url", slug: "website", label: "Website", required: false, hidden: false };
const needed = { isDefault: false, type: "boolean", slug: "terms", label: "Terms", required: true, hidden: false };

const phoneField = { isDefault: true, type: "phone", slug: "attendeePhoneNumber", required: true, hidden: false };
const titleField = { isDefault: true, type: "text", slug: "title", label: "title", required: true, hidden: false };
const mobile = { isDefault: false, type: "phone", slug: "mobile", label: "Mobile", required: true, hidden: false };
const symptoms = {
  isDefault: false,
  type: "checkbox",
  slug: "symptoms",
  label: "Symptoms",
  options: ["Pain", "Swelling, redness", "Other"],
  required: true,
  hidden: false,
};

const hidden = { isDefault: false, type: "text", slug: "promo", label: "Promotion", required: true, hidden: true };

/** Limits of long texts, by event type and field, which the API doesn't show. */
export const HIDDEN_LIMITS: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  33: { history: 120, what: 120 },
  35: { notes: 120 },
};
const story = { isDefault: false, type: "textarea", slug: "history", label: "History", required: false, hidden: false };

export const eventTypes = [
  eventType(10, "Check-up"),
  eventType(11, "Video call", { locations: [{ type: "integration", integration: "cal-video" }] }),
  eventType(12, "First visit", { lengthInMinutes: 60, bookingFields: [...defaultFields, ...asked] }),
  eventType(13, "Family visit", { bookingFields: [...defaultFields, counted, website] }),
  eventType(14, "Members", { bookingRequiresAuthentication: true }),
  eventType(15, "Full name", { bookingFields: splitNameFields }),
  eventType(20, "Confirmed later", { confirmationPolicy: { type: "always", blockUnconfirmedBookingsInBooker: false } }),
  eventType(21, "Class", { seats: { seatsPerTimeSlot: 8 } }),
  eventType(22, "Course", { recurrence: { interval: 1, occurrences: 5, frequency: "weekly" } }),
  eventType(23, "Paid", { price: 5_000 }),
  eventType(24, "House call", { locations: [{ type: "attendeeAddress" }] }),
  eventType(25, "Consent", { bookingFields: [...defaultFields, needed] }),
  eventType(26, "Template", { schedulingType: "managed" }),
  eventType(27, "Secret", { hidden: true }),
  eventType(28, "Verified", { requiresBookerEmailVerification: true }),
  eventType(29, "Text messages", { bookingFields: [...defaultFields, textMessageField] }),
  eventType(30, "Headcount", { bookingFields: [...defaultFields, { ...counted, required: true }] }),
  eventType(31, "Campaign", { bookingFields: [...defaultFields, hidden] }),
  eventType(32, "Free again", { price: 5_000, metadata: { apps: { stripe: { enabled: false, price: 5_000 } } } }),
  eventType(33, "Short answers", { bookingFields: [...defaultFields, story, ...asked.slice(0, 1)] }),
  eventType(34, "Paid by card", { price: 5_000, metadata: { apps: { stripe: { enabled: true, price: 5_000 } } } }),
  eventType(35, "Short notes"),
  eventType(36, "Call me", { locations: [{ type: "attendeePhone" }] }),
  eventType(37, "Anywhere", { locations: [{ type: "attendeeDefined" }] }),
  eventType(38, "Call back later", { bookingFields: [...defaultFields.slice(0, -1), phoneField] }),
  eventType(39, "Everything", {
    bookingFields: [...defaultFields.filter(({ slug }) => slug !== "title"), titleField, mobile, symptoms, needed],
  }),
];

/** Event types of another organization's user with the same username. */
export const strangersEventTypes = [eventType(90, "Somebody else's")];

/** The key's user is an admin of the first team and a plain member of the second. */
export const teams = [
  {
    id: 3,
    name: "Dentists",
    isAdmin: true,
    eventTypes: [
      eventType(40, "Any dentist", { schedulingType: "roundRobin" }),
      eventType(41, "Both dentists", { schedulingType: "collective" }),
    ],
  },
  {
    id: 4,
    name: "Front desk",
    isAdmin: false,
    eventTypes: [eventType(50, "Call back", { schedulingType: "roundRobin" })],
  },
];

export const allEventTypes = [...eventTypes, ...teams.flatMap((team) => team.eventTypes)];
