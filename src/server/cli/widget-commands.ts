import { parseWidgetId } from "#contract/ids.ts";
import { TEMPLATES, WIDGET_STATUSES } from "#contract/widgets/widget.ts";
import type { TestData } from "../test-mode/test-mode.ts";
import { findWidgetOwner, readWidgets } from "../widgets/widgets.ts";
import { choiceOf, readGiven, requireOrganization, requireOwned, toSwitch } from "./arguments.ts";
import { callRoute } from "./call-route.ts";
import { type Command, type CommandContext, UsageError } from "./command.ts";

export const WIDGET_COMMANDS: readonly Command[] = [
  {
    name: "widget list",
    usage: "widget list --org ORG",
    summary: "list an organization's widgets",
    options: ["org"],
    positionals: 0,
    async run(context) {
      const { id } = await requireOrganization(context.db, context.args.required("org"));
      const widgets = await readWidgets(context, id);
      const lines = widgets.map((widget) => `${widget.id}  ${widget.name} (${widget.status})`);
      return { text: lines.join("\n") || "No widgets.", json: widgets };
    },
  },
  {
    name: "widget create",
    usage: `widget create --org ORG --name NAME [--business-name TEXT] [--booking-url URL] [--template ${TEMPLATES.join("|")}] [--collect-data on|off]`,
    summary: "create a widget",
    options: ["org", "name", "business-name", "booking-url", "template", "collect-data"],
    positionals: 0,
    async run(context) {
      const { args } = context;
      const { id: owner } = await requireOrganization(context.db, args.required("org"));
      const body = { name: args.required("name"), ...readGiven(args, SETTINGS) };
      const { id, snippet } = await callRoute(context, owner, "createWidget", { body });
      return { text: `Created widget ${id}. Paste this into the page:\n${snippet}`, json: { id, snippet } };
    },
  },
  {
    name: "widget set",
    usage: `widget set WIDGET_ID [--status ${WIDGET_STATUSES.join("|")}] [--collect-data on|off] [--name NAME] [--template ${TEMPLATES.join("|")}] [--accent #rrggbb|none] [--allowed-domains a.com,b.com|any]`,
    summary: "change a widget",
    options: ["status", "collect-data", "name", "template", "accent", "allowed-domains"],
    positionals: 1,
    async run(context) {
      const body = readGiven(context.args, SETTINGS);
      if (Object.keys(body).length === 0)
        throw new UsageError(
          "Nothing to change. Use --status, --collect-data, --name, --template, --accent or --allowed-domains.",
        );
      const { id, owner, params } = await requireWidget(context);
      const { name, status, collectData } = await callRoute(context, owner, "changeWidget", { params, body });
      const widgets = await readWidgets(context, owner);
      return {
        text: `Changed widget ${id}: ${name}, ${status}, Store bookings ${collectData ? "on" : "off"}.`,
        json: widgets.find((widget) => widget.id === id),
      };
    },
  },
  {
    name: "widget go-live",
    usage: "widget go-live WIDGET_ID --connection ID [--clear-test-data]",
    summary: "check a connection and let the widget book through it; --clear-test-data then deletes its test data",
    options: ["connection"],
    flags: ["clear-test-data"],
    positionals: 1,
    async run(context) {
      const { args } = context;
      const { id, owner, params } = await requireWidget(context);
      await callRoute(context, owner, "goLive", { params, body: { connectionId: args.required("connection") } });
      const cleared = args.flag("clear-test-data")
        ? await callRoute(context, owner, "clearTestData", { params })
        : null;
      const text = `Widget ${id} is live.${cleared === null ? "" : ` ${describeCleared(cleared)}`}`;
      return { text, json: { id, isLive: true, ...(cleared === null ? {} : { cleared }) } };
    },
  },
  {
    name: "widget test-mode",
    usage: "widget test-mode WIDGET_ID",
    summary: "return a widget to test mode: it books in the sandbox, and visitors see a test banner",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner, params } = await requireWidget(context);
      await callRoute(context, owner, "goBackToTest", { params });
      return { text: `Widget ${id} is in test mode.`, json: { id, isLive: false } };
    },
  },
  {
    name: "widget clear-test-data",
    usage: "widget clear-test-data WIDGET_ID [--dry-run]",
    summary: "delete the bookings, visits and deliveries that a widget collected in test mode",
    options: [],
    flags: ["dry-run"],
    positionals: 1,
    async run(context) {
      const { owner, params } = await requireWidget(context);
      const dryRun = context.args.flag("dry-run");
      const found = await callRoute(context, owner, "clearTestData", { params, body: { dryRun } });
      return { text: dryRun ? `Test data: ${describeCounts(found)}.` : describeCleared(found), json: found };
    },
  },
];

async function requireWidget(context: CommandContext) {
  const [text] = context.args.positional;
  const { id, owner } = await requireOwned(context, {
    parse: parseWidgetId,
    findOwner: findWidgetOwner,
    unknown: `No widget has the ID ${JSON.stringify(text)}. Run "widget list --org ORG" to see all of them.`,
  });
  return { id, owner, params: { widget: id } };
}

const SETTINGS = {
  name: String,
  businessName: String,
  bookingUrl: String,
  status: choiceOf(WIDGET_STATUSES),
  template: choiceOf(TEMPLATES),
  collectData: toSwitch,
  accentColor: (text: string) => (text === "none" ? null : text),
  allowedDomains: (text: string) => (text === "any" ? [] : text.split(",")),
};

function describeCleared(cleared: TestData): string {
  return `Deleted test data: ${describeCounts(cleared)}.`;
}

function describeCounts({ bookings, visits, deliveries }: TestData): string {
  return `bookings: ${bookings}, visits: ${visits}, deliveries: ${deliveries}`;
}
