// For tests: the user of calendly-server.ts. Their clock stands at noon on a Sunday; times are free Monday to Friday from
// 08:00 to 16:00 UTC.

export const CALENDLY_NOW = new Date("2026-11-01T12:00:00.000Z");

export const API = "https://api.calendly.com";
export const ORGANIZATION_URI = `${API}/organizations/ORG1`;

export const user = {
  uri: `${API}/users/USER1`,
  name: "Lindenhof Dental",
  slug: "lindenhof",
  email: "office@example.com",
  scheduling_url: "https://calendly.com/lindenhof",
  timezone: "Europe/Berlin",
  current_organization: ORGANIZATION_URI,
};

type WorldQuestion = {
  name: string;
  type: string;
  position: number;
  enabled: boolean;
  required: boolean;
  answer_choices: string[];
};

type WorldEventType = {
  uri: string;
  name: string;
  active: boolean;
  secret: boolean;
  kind: string;
  pooling_type: string | null;
  booking_method: string;
  is_paid: boolean;
  duration: number;
  description_plain: string | null;
  custom_questions: WorldQuestion[];
  locations: { kind: string; location?: string }[] | null;
};

function question(position: number, name: string, changes: Partial<WorldQuestion> = {}): WorldQuestion {
  return { name, type: "string", position, enabled: true, required: false, answer_choices: [], ...changes };
}

/** Calendly adds this question to every new event type. */
const notes = question(0, "Please share anything that will help prepare for our meeting.", { type: "text" });

function eventType(id: string, name: string, changes: Partial<WorldEventType> = {}): WorldEventType {
  return {
    uri: `${API}/event_types/${id}`,
    name,
    active: true,
    secret: false,
    kind: "solo",
    pooling_type: null,
    booking_method: "instant",
    is_paid: false,
    duration: 30,
    description_plain: null,
    custom_questions: [notes],
    locations: [{ kind: "physical", location: "Lindenstrasse 1" }],
    ...changes,
  };
}

export const eventTypes = [
  eventType("CHECKUP", "Check-up"),
  eventType("VIDEO", "Video call", { locations: [{ kind: "ask_invitee" }, { kind: "zoom_conference" }] }),
  eventType("FIRST", "First visit", {
    duration: 60,
    custom_questions: [
      notes,
      question(1, "What is it about?", { required: true }),
      question(2, "Does it hurt?", { type: "single_select", answer_choices: ["Yes", "No"] }),
      question(3, "Days", { type: "multi_select", answer_choices: ["Mon", "Tue"] }),
      question(4, "Old question", { enabled: false, required: true }),
    ],
  }),
  eventType("ANY", "Any dentist", { pooling_type: "round_robin" }),
  eventType("BARE", "Bare", { custom_questions: [], locations: null }),
  eventType("POLL", "Vote", { booking_method: "poll" }),
  eventType("GROUP", "Class", { kind: "group" }),
  eventType("PAID", "Paid", { is_paid: true }),
  eventType("CALL", "Call back", { locations: [{ kind: "outbound_call" }] }),
  eventType("DAYS", "Pick days", {
    custom_questions: [notes, question(1, "Which days?", { type: "multi_select", required: true })],
  }),
  eventType("SECRET", "Secret", { secret: true }),
];
