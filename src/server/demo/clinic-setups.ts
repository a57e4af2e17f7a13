import {
  FIRST_VISIT_QUESTIONS,
  type SandboxService,
  type SandboxSetup,
  type SandboxStaff,
  type WeeklyHours,
} from "../scheduler/scheduler.ts";

// The services, staff and hours of the demo's dental clinic, for its widgets' sandboxes.

const hoursOf = (weekdays: readonly number[], times: readonly (readonly [opens: string, closes: string])[]) =>
  weekdays.flatMap((weekday) => times.map(([opens, closes]): WeeklyHours => ({ weekday, opens, closes })));

const WORKING_DAYS = [1, 2, 3, 4, 5];
const ALL_DAY = [
  ["08:00", "12:30"],
  ["13:30", "18:00"],
] as const;
const MORNINGS = hoursOf(WORKING_DAYS, [["08:00", "13:00"]]);
const FULL_TIME = hoursOf(WORKING_DAYS, ALL_DAY);
const PART_TIME = hoursOf([1, 2, 4], ALL_DAY);

const ADA: SandboxStaff = { id: "ada-winter", name: "Dr. Ada Winter", hours: FULL_TIME };
const JONAS: SandboxStaff = { id: "jonas-groesser", name: "Dr. Jonas Größer", hours: FULL_TIME };
const LEA: SandboxStaff = { id: "lea-sommer", name: "Lea Sommer", hours: FULL_TIME };
const ELISE: SandboxStaff = { id: "elise-moreau", name: "Dr. Élise Moreau", hours: FULL_TIME };
const PAWEL: SandboxStaff = { id: "pawel-nowak", name: "Paweł Nowak", hours: PART_TIME };
const ZOE: SandboxStaff = { id: "zoe-lindqvist", name: "Dr. Zoë Lindqvist", hours: MORNINGS };

const RULES = { stepMinutes: 30, leadMinutes: 60, horizonDays: 60 };

const service = (
  service: Pick<SandboxService, "id" | "name" | "description" | "durationMinutes" | "staffIds"> &
    Partial<SandboxService>,
): SandboxService => ({
  bufferBeforeMinutes: 0,
  bufferAfterMinutes: 0,
  isOnline: false,
  staffSelectable: service.staffIds.length > 1,
  questions: [],
  ...service,
});

export const CLINIC_SETUP: SandboxSetup = {
  ...RULES,
  staff: [ADA, JONAS, LEA],
  services: [
    service({
      id: "check-up",
      name: "Check-up",
      description: "30 minutes, with an X-ray if needed.",
      durationMinutes: 30,
      staffIds: [ADA.id, JONAS.id],
    }),
    service({
      id: "cleaning",
      name: "Professional cleaning",
      description: "An hour with Lea, and teeth that feel like new.",
      durationMinutes: 60,
      staffIds: [LEA.id],
      questions: [
        {
          id: "sensitive",
          label: "Are your teeth sensitive?",
          type: "choice",
          options: ["Yes", "A little", "No"],
          required: false,
        },
      ],
    }),
    service({
      id: "first-visit",
      name: "First visit",
      description: "An hour to get to know you and your teeth.",
      durationMinutes: 60,
      staffIds: [ADA.id],
      questions: FIRST_VISIT_QUESTIONS,
    }),
    service({
      id: "video-consultation",
      name: "Video consultation",
      description: "A second opinion from your sofa.",
      durationMinutes: 30,
      isOnline: true,
      staffIds: [JONAS.id],
    }),
  ],
};

export const BRANCH_SETUP: SandboxSetup = {
  ...RULES,
  staff: [ELISE, PAWEL],
  services: [
    service({
      id: "check-up",
      name: "Check-up",
      description: "30 minutes in Potsdam, five minutes from the station.",
      durationMinutes: 30,
      staffIds: [ELISE.id, PAWEL.id],
    }),
    service({
      id: "first-visit",
      name: "First visit",
      description: "An hour to get to know you and your teeth.",
      durationMinutes: 60,
      staffIds: [ELISE.id],
      questions: FIRST_VISIT_QUESTIONS,
    }),
  ],
};

export const CHILDREN_SETUP: SandboxSetup = {
  ...RULES,
  staff: [ZOE],
  services: [
    service({
      id: "childrens-check-up",
      name: "Children's check-up",
      description: "30 minutes, with a dragon to hold on to.",
      durationMinutes: 30,
      staffIds: [ZOE.id],
      questions: [
        { id: "age", label: "How old is your child?", type: "text", options: [], required: true },
        {
          id: "first-time",
          label: "Is this their first visit to a dentist?",
          type: "choice",
          options: ["Yes", "No"],
          required: false,
        },
      ],
    }),
  ],
};
