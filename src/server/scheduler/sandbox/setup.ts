import type { Question } from "../scheduling-system.ts";
import type { WeeklyHours } from "../weekly-hours.ts";

// The setup of a sandbox, stored as one document because it is always read as a whole. All times are multiples of the cells
// in which appointments are kept.

/** The smallest unit of time: durations, buffers, steps and opening hours are multiples of it. */
export const CELL_MINUTES = 5;

export type SandboxSetup = {
  readonly stepMinutes: number;
  readonly leadMinutes: number;
  readonly horizonDays: number;
  readonly staff: readonly SandboxStaff[];
  readonly services: readonly SandboxService[];
};

export type SandboxStaff = { readonly id: string; readonly name: string; readonly hours: readonly WeeklyHours[] };

export type SandboxService = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly durationMinutes: number;
  readonly bufferBeforeMinutes: number;
  readonly bufferAfterMinutes: number;
  readonly isOnline: boolean;
  /** Without staff, a service never has available times. */
  readonly staffIds: readonly string[];
  readonly staffSelectable: boolean;
  readonly questions: readonly Question[];
};

export const FIRST_VISIT_QUESTIONS: readonly Question[] = [
  { id: "topic", label: "What is your appointment about?", type: "text", options: [], required: true },
  {
    id: "heard-from",
    label: "How did you hear about us?",
    type: "choice",
    options: ["A friend", "A search engine", "Social media", "Other"],
    required: false,
  },
];

const WORKING_DAYS = [1, 2, 3, 4, 5];
const OFFICE_HOURS: readonly WeeklyHours[] = WORKING_DAYS.map((weekday) => ({
  weekday,
  opens: "09:00",
  closes: "17:00",
}));

/** The initial setup of a widget's sandbox. Names and descriptions say that they are samples. */
export const DEFAULT_SETUP: SandboxSetup = {
  stepMinutes: 30,
  leadMinutes: 60,
  horizonDays: 60,
  staff: [
    { id: "alex-kim", name: "Alex Example", hours: OFFICE_HOURS },
    { id: "sam-rivera", name: "Sam Example", hours: OFFICE_HOURS },
    { id: "robin-novak", name: "Robin Example", hours: OFFICE_HOURS },
  ],
  services: [
    {
      id: "consultation",
      name: "Consultation (sample)",
      description: "A sample service. 30 minutes with a person you choose.",
      durationMinutes: 30,
      bufferBeforeMinutes: 0,
      bufferAfterMinutes: 0,
      isOnline: false,
      staffIds: ["alex-kim", "sam-rivera"],
      staffSelectable: true,
      questions: [],
    },
    {
      id: "online-meeting",
      name: "Online meeting (sample)",
      description: "A sample service. A video call; the link is in the confirmation.",
      durationMinutes: 30,
      bufferBeforeMinutes: 0,
      bufferAfterMinutes: 0,
      isOnline: true,
      staffIds: ["sam-rivera", "robin-novak"],
      staffSelectable: false,
      questions: [],
    },
    {
      id: "first-appointment",
      name: "First appointment (sample)",
      description: "A sample service. One hour, with a few questions to answer.",
      durationMinutes: 60,
      bufferBeforeMinutes: 0,
      bufferAfterMinutes: 15,
      isOnline: false,
      staffIds: ["robin-novak"],
      staffSelectable: false,
      questions: FIRST_VISIT_QUESTIONS,
    },
    {
      id: "fully-booked",
      name: "Fully booked (sample)",
      description: "Shows what visitors see when no times are available.",
      durationMinutes: 45,
      bufferBeforeMinutes: 0,
      bufferAfterMinutes: 0,
      isOnline: false,
      staffIds: [],
      staffSelectable: false,
      questions: [],
    },
  ],
};
