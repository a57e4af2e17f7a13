import type { Checklist } from "#contract/app/overview.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import type { Action } from "../can.ts";
import type { Paths } from "../paths.ts";

export type ChecklistStep = {
  readonly key: keyof Checklist | "hasOrganization";
  /** Worth doing, but the checklist is finished without it. */
  readonly isOptional?: true;
  readonly title: string;
  readonly text: string;
  readonly button: string;
  /** What the person must be allowed to do. */
  readonly action: Action;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
  /** The page outside of the dashboard where this step is done; without it, `to`. */
  readonly outside?: string | undefined;
  readonly isDone: boolean;
};

type Scope = {
  readonly paths: Paths;
  readonly widgets: readonly Pick<AppWidget, "id" | "pageUrl" | "mode">[];
  readonly isAllowed: (action: Action) => boolean;
};

/** In the order from sign-up to the first real booking, without what the person's role or the plan forbids. */
export function toChecklistSteps(checklist: Checklist, scope: Scope): ChecklistStep[] {
  return [...listTestSteps(scope), ...listLiveSteps(scope), ...listOptionalSteps(scope)]
    .filter(({ action }) => scope.isAllowed(action))
    .map((step) => ({ ...step, isDone: isDone(step, checklist) }));
}

/** Going live asks about Store bookings, so whoever is live with the switch off has decided so. */
function isDone({ key }: OpenStep, checklist: Checklist): boolean {
  if (key === "storesBookings") return checklist.storesBookings || checklist.isLive;
  return key === "hasOrganization" || checklist[key];
}

type OpenStep = Omit<ChecklistStep, "isDone">;

/** Up to a test booking: none of these needs a scheduling system. */
function listTestSteps({ paths, widgets }: Scope): OpenStep[] {
  const widget = findUnfinished(widgets);
  const widgetPath = toWidgetPath(paths, widget);
  return [
    {
      key: "hasOrganization",
      title: "Create your organization",
      text: "Name and time zone are set.",
      button: "Open settings",
      action: "getOverview",
      to: paths.settings,
    },
    {
      key: "hasWidget",
      title: "Create your first widget",
      text: "Visitors book through it. It starts in test mode: no real appointments are made until you go live.",
      button: "Create widget",
      action: "createWidget",
      to: paths.widgets,
      search: { new: "1" },
    },
    {
      key: "hasLook",
      title: "Make it look like your business",
      text: "Choose a template, a colour and your logo.",
      button: "Design widget",
      action: "changeWidget",
      to: widgetPath,
    },
    {
      key: "storesBookings",
      title: "Choose whether to store bookings",
      text: "It’s off at first: bookings are only counted, and customers’ details stay in your scheduling system. Turn it on to see bookings here and to send them to your systems.",
      button: "Open Store bookings",
      action: "changeWidget",
      to: widgetPath,
      search: { tab: "storage" },
    },
    {
      key: "hasTestBooking",
      title: "Make a test booking",
      text: "Open the booking page and book as a visitor would. No appointment is made.",
      button: "Open booking page",
      action: "changeWidget",
      to: widgetPath,
      outside: widget?.pageUrl,
    },
  ];
}

function listLiveSteps({ paths, widgets }: Scope): OpenStep[] {
  const widget = findUnfinished(widgets);
  const widgetPath = toWidgetPath(paths, widget);
  return [
    {
      key: "hasConnection",
      title: "Connect your scheduling system",
      text: "Cal.com, Microsoft Bookings or Calendly. We check the connection before saving.",
      button: "Connect scheduling system",
      action: "addConnection",
      to: paths.connections,
      search: { add: "1", ...(widget && { widget: widget.id }) },
    },
    {
      key: "isLive",
      title: "Go live",
      text: "We check the connection first. From then on, bookings become real appointments.",
      button: "Go live",
      action: "goLive",
      to: widgetPath,
      search: { mode: "go-live" },
    },
    {
      key: "isOnPage",
      title: "Add the widget to your website",
      text: "Copy the snippet for your website builder. This step is done once a visitor has seen the widget there.",
      button: "Get the snippet",
      action: "changeWidget",
      to: widgetPath,
      search: { tab: "install" },
    },
    {
      key: "hasLiveBooking",
      title: "Get your first live booking",
      text: "Book once yourself, and look for the appointment in your scheduling system.",
      button: "Open booking page",
      action: "changeWidget",
      to: widgetPath,
      outside: widgets.find(({ mode }) => mode === "live")?.pageUrl,
    },
  ];
}

/** Worth doing once bookings arrive. */
function listOptionalSteps({ paths }: Scope): OpenStep[] {
  return [
    {
      key: "hasEndpoint",
      isOptional: true,
      title: "Send bookings to your systems",
      text: "Add a webhook, Teams or Slack. Bookings are sent only if their widget has Store bookings on.",
      button: "Add endpoint",
      action: "addEndpoint",
      to: paths.webhooks,
    },
    {
      key: "hasSecondMember",
      isOptional: true,
      title: "Invite a colleague",
      text: "So someone can step in when you’re away.",
      button: "Invite member",
      action: "invite",
      to: paths.members,
    },
  ];
}

/** The widget that the steps are about: one that isn't live, if there is one. */
function findUnfinished(widgets: Scope["widgets"]): Scope["widgets"][number] | undefined {
  return widgets.find(({ mode }) => mode !== "live") ?? widgets[0];
}

function toWidgetPath(paths: Paths, widget: Scope["widgets"][number] | undefined): string {
  return widget ? paths.widget(widget.id) : paths.widgets;
}
