import type { Checklist } from "#contract/app/overview.ts";
import type { Paths } from "../paths.ts";

export type ChecklistStep = {
  readonly key: keyof Checklist | "hasOrganization";
  readonly title: string;
  readonly text: string;
  readonly button: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly isDone: boolean;
};

/** In the order in which a new business gets from sign-up to its first real booking. */
export function toChecklistSteps(
  checklist: Checklist,
  { paths, widget }: { paths: Paths; widget: string | null },
): ChecklistStep[] {
  const steps = [...listTestSteps(paths, widget), ...listLiveSteps(paths, widget)];
  return steps.map((step) => ({ ...step, isDone: step.key === "hasOrganization" || checklist[step.key] }));
}

type OpenStep = Omit<ChecklistStep, "isDone">;

/** Up to a test booking: none of these needs a scheduling system. */
function listTestSteps(paths: Paths, widget: string | null): OpenStep[] {
  const widgetPath = toWidgetPath(paths, widget);
  return [
    {
      key: "hasOrganization",
      title: "Create your organization",
      text: "Name and time zone are set.",
      button: "Open settings",
      to: paths.settings,
    },
    {
      key: "hasWidget",
      title: "Create your first widget",
      text: "Visitors book through it. It starts in test mode, so nothing real can happen yet.",
      button: "Create widget",
      to: paths.widgets,
      search: { new: "1" },
    },
    {
      key: "hasLook",
      title: "Make it look like your business",
      text: "Choose a template, a colour and your logo.",
      button: "Design widget",
      to: widgetPath,
    },
    {
      key: "hasTestBooking",
      title: "Make a test booking",
      text: "Open the booking page and book as a visitor would. No appointment is made.",
      button: "Open widget",
      to: widgetPath,
    },
  ];
}

function listLiveSteps(paths: Paths, widget: string | null): OpenStep[] {
  const widgetPath = toWidgetPath(paths, widget);
  return [
    {
      key: "hasConnection",
      title: "Connect your scheduling system",
      text: "Cal.com, Microsoft Bookings or Calendly. We check the connection before saving.",
      button: "Connect scheduling system",
      to: paths.connections,
      search: { add: "1", ...(widget === null ? {} : { widget }) },
    },
    {
      key: "isLive",
      title: "Go live",
      text: "We check the connection first. From then on, bookings become real appointments.",
      button: "Go live",
      to: widgetPath,
      search: { mode: "go-live" },
    },
    {
      key: "isOnPage",
      title: "Add the widget to your website",
      text: "Copy the snippet for your website builder. This step is done once a visitor has seen the widget there.",
      button: "Get the snippet",
      to: widgetPath,
      search: { tab: "install" },
    },
    {
      key: "hasLiveBooking",
      title: "Get your first live booking",
      text: "Book once yourself, and look for the appointment in your scheduling system.",
      button: "View bookings",
      to: paths.bookings,
    },
    {
      key: "hasEndpoint",
      title: "Send bookings to your systems",
      text: "Add a webhook, a Teams channel or a Slack channel.",
      button: "Add endpoint",
      to: paths.webhooks,
    },
    {
      key: "hasSecondMember",
      title: "Invite a colleague",
      text: "So someone can step in when you’re away.",
      button: "Invite member",
      to: paths.members,
    },
  ];
}

function toWidgetPath(paths: Paths, widget: string | null): string {
  return widget === null ? paths.widgets : paths.widget(widget);
}
