import type { DemoWidget } from "../../../src/server/demo/practice.ts";
import { BRANCH, CHILDREN, LANDING_PAGE, WEBSITE } from "../../../src/server/demo/practice.ts";
import type { SandboxService } from "../../../src/server/scheduler/sandbox/setup.ts";

/** A user of the stand-in for Cal.com: one place of the practice, with its services as event types. */
export type PracticeUser = {
  readonly id: number;
  readonly name: string;
  readonly apiKey: string;
  /** The calendar is this widget's sandbox. */
  readonly calendar: DemoWidget;
  readonly widgets: readonly DemoWidget[];
};

export const PRACTICE_USERS: readonly PracticeUser[] = [
  {
    id: 1,
    name: "Lindenhof Dental Berlin",
    apiKey: "cal_live_demo_berlin",
    calendar: WEBSITE,
    widgets: [WEBSITE, LANDING_PAGE],
  },
  {
    id: 2,
    name: "Lindenhof Dental Potsdam",
    apiKey: "cal_live_demo_potsdam",
    calendar: BRANCH,
    widgets: [BRANCH],
  },
  {
    id: 3,
    name: "Lindenhof Dental for children",
    apiKey: "cal_live_demo_children",
    calendar: CHILDREN,
    widgets: [CHILDREN],
  },
];

/** Event types have numbers: 201 is the second user's first one. */
export function toEventTypeId(user: PracticeUser, serviceId: string): number {
  return user.id * 100 + user.calendar.setup.services.findIndex(({ id }) => id === serviceId) + 1;
}

export function findService(user: PracticeUser, eventTypeId: number): SandboxService | null {
  return user.calendar.setup.services.find(({ id }) => toEventTypeId(user, id) === eventTypeId) ?? null;
}

export function toEventType(user: PracticeUser, service: SandboxService): object {
  return {
    id: toEventTypeId(user, service.id),
    title: service.name,
    slug: service.id,
    description: service.description ?? "",
    lengthInMinutes: service.durationMinutes,
    bookingFields: service.questions.map(({ id, label, type, options, required }) => ({
      isDefault: false,
      type: type === "choice" ? "radio" : "text",
      slug: id,
      label,
      options,
      required,
      hidden: false,
    })),
    locations: [service.isOnline ? { type: "integration", integration: "cal-video" } : { type: "address" }],
    hidden: false,
    price: 0,
    confirmationPolicy: { disabled: true },
    recurrence: null,
    seats: { disabled: true },
  };
}
