import { WIDGET_NAME_LENGTH_MAX } from "#contract/app/limits.ts";
import { type OrganizationId, parseConnectionId, parseWidgetId, WIDGET_ID, type WidgetId } from "#contract/ids.ts";
import { TEMPLATES, WIDGET_STATUSES } from "#contract/widget.ts";
import { ALLOWED_DOMAINS_MAX, parseAccentColor, parseAllowedDomain } from "#contract/widget-looks.ts";
import { auditByOperator } from "../audit/audit-by.ts";
import type { Db } from "../db/pool.ts";
import { acrossOrganizations, inOrganization } from "../db/transactions.ts";
import { randomId } from "../lib/secrets/random.ts";
import { isSafeLink } from "../lib/text/safe-link.ts";
import { clearTestData } from "../test-mode/clear-tests.ts";
import { countTestData, type TestData } from "../test-mode/queries.ts";
import { goBackToTest, goLive } from "../test-mode/switch-mode.ts";
import { findWidget, insertWidget, updateWidget } from "../widgets/queries.ts";
import { readWidgets, toSnippet } from "../widgets/to-widget.ts";
import { parseChoice, parseSwitch, parseText, requireOrganization } from "./arguments.ts";
import type { Command, CommandContext } from "./command.ts";
import { UsageError } from "./usage-error.ts";

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
    async run({ db, args, clock, random, config }) {
      const organization = await requireOrganization(db, args.required("org"));
      const [businessName, bookingUrl] = [args.option("business-name"), args.option("booking-url")];
      const id = randomId<WidgetId>(random, WIDGET_ID);
      const widget = {
        id,
        organization_id: organization.id,
        name: parseText("name", args.required("name"), WIDGET_NAME_LENGTH_MAX),
        business_name: businessName === null ? "" : parseText("business-name", businessName, WIDGET_NAME_LENGTH_MAX),
        booking_url: bookingUrl === null ? null : requireLink(bookingUrl, config.baseUrl),
        template: parseChoice("template", args.option("template") ?? "classic", TEMPLATES),
        status: "active",
        collect_data: parseSwitch("collect-data", args.option("collect-data") ?? "off"),
        created_at: clock.now(),
      } as const;
      await inOrganization(db, organization.id, async (transaction) => {
        await insertWidget(transaction, widget);
        const audit = auditByOperator({ random }, organization.id, widget.created_at);
        await audit(transaction, { action: "widget.created", target: id, name: widget.name });
      });
      const snippet = toSnippet(config.baseUrl, id);
      return { text: `Created widget ${id}. Paste this into the page:\n${snippet}`, json: { id, snippet } };
    },
  },
  {
    name: "widget set",
    usage: `widget set WIDGET_ID [--status ${WIDGET_STATUSES.join("|")}] [--collect-data on|off] [--name NAME] [--template ${TEMPLATES.join("|")}] [--accent #rrggbb|none] [--allowed-domains a.com,b.com|any]`,
    summary: "change a widget",
    options: ["status", "collect-data", "name", "template", "accent", "allowed-domains"],
    positionals: 1,
    async run({ db, args, clock, config, random }) {
      const id = parseWidgetId(args.positional[0] ?? "");
      const [status, collectData] = [args.option("status"), args.option("collect-data")];
      const [name, template] = [args.option("name"), args.option("template")];
      const [accent, allowedDomains] = [args.option("accent"), args.option("allowed-domains")];
      const change = {
        ...(status === null ? {} : { status: parseChoice("status", status, WIDGET_STATUSES) }),
        ...(collectData === null ? {} : { collect_data: parseSwitch("collect-data", collectData) }),
        ...(name === null ? {} : { name: parseText("name", name, WIDGET_NAME_LENGTH_MAX) }),
        ...(template === null ? {} : { template: parseChoice("template", template, TEMPLATES) }),
        ...(accent === null ? {} : { accent_color: parseAccent(accent) }),
        ...(allowedDomains === null ? {} : { allowed_domains: parseDomains(allowedDomains) }),
      };
      if (Object.keys(change).length === 0)
        throw new UsageError(
          "Nothing to change. Use --status, --collect-data, --name, --template, --accent or --allowed-domains.",
        );
      const row = await acrossOrganizations(db, async (transaction) => {
        const changed = id && (await updateWidget(transaction, id, change));
        if (changed) {
          const names = { name: changed.name, formerName: changed.former_name };
          const detail = { changed: Object.keys(change).join(", ") };
          const audit = auditByOperator({ random }, changed.organization_id, clock.now());
          await audit(transaction, { action: "widget.changed", target: id, ...names, detail });
        }
        return changed;
      });
      if (!row) throw noWidget(args.positional[0] ?? "");
      const widgets = await readWidgets({ db, config }, row.organization_id);
      const storing = row.collect_data ? "on" : "off";
      return {
        text: `Changed widget ${row.id}: ${row.name}, ${row.status}, Store bookings ${storing}.`,
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
      const { db, args, clock, random } = context;
      const { id, owner, name } = await requireWidget(db, args.positional[0] ?? "");
      const connectionId = parseConnectionId(args.required("connection"));
      const audit = auditByOperator({ random }, owner, clock.now());
      const outcome = connectionId && (await goLive(context, owner, { widgetId: id, connectionId, audit }));
      if (!outcome || outcome.kind === "no_connection")
        throw new UsageError("The widget's organization has no connection with this ID.");
      if (outcome.kind === "no_widget") throw noWidget(id);
      if (outcome.kind === "not_ready") throw new UsageError(`Nothing was changed. ${outcome.message}`);
      const cleared = args.flag("clear-test-data") ? await clear(context, { id, owner, name }) : null;
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
    async run({ db, args, clock, random }) {
      const { id, owner } = await requireWidget(db, args.positional[0] ?? "");
      const audit = auditByOperator({ random }, owner, clock.now());
      if (!(await goBackToTest({ db, clock }, owner, { widgetId: id, audit }))) throw noWidget(id);
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
      const { db, args, clock } = context;
      const widget = await requireWidget(db, args.positional[0] ?? "");
      if (args.flag("dry-run")) {
        const found = await countTestData(db, widget.owner, { widgetId: widget.id, now: clock.now() });
        return { text: `Test data: ${describeCounts(found)}.`, json: found };
      }
      const cleared = await clear(context, widget);
      return { text: describeCleared(cleared), json: cleared };
    },
  },
];

type NamedWidget = { id: WidgetId; owner: OrganizationId; name: string };

async function requireWidget(db: Db, text: string): Promise<NamedWidget> {
  const id = parseWidgetId(text);
  const row = id && (await findWidget(db, id));
  if (!row) throw noWidget(text);
  return { id: row.id, owner: row.organization_id, name: row.name };
}

function noWidget(text: string): UsageError {
  return new UsageError(
    `No widget has the ID ${JSON.stringify(text)}. Run "widget list --org ORG" to see all of them.`,
  );
}

async function clear(context: CommandContext, { id, owner, name }: NamedWidget): Promise<TestData> {
  const { patientDb, clock, random } = context;
  const audit = auditByOperator({ random }, owner, clock.now());
  return await clearTestData({ db: patientDb, clock }, owner, { widgetId: id, name, audit });
}

function describeCleared(cleared: TestData): string {
  return `Deleted test data: ${describeCounts(cleared)}.`;
}

function describeCounts({ bookings, visits, deliveries }: TestData): string {
  return `bookings: ${bookings}, visits: ${visits}, deliveries: ${deliveries}`;
}

function requireLink(text: string, baseUrl: string): string {
  if (isSafeLink(text, baseUrl)) return text;
  throw new UsageError("--booking-url must be a full https URL.");
}

function parseAccent(text: string): string | null {
  const accent = text === "none" ? null : parseAccentColor(text);
  if (text !== "none" && accent === null) throw new UsageError("--accent must be a colour such as #4b45d6, or none.");
  return accent;
}

function parseDomains(text: string): string[] {
  if (text === "any") return [];
  const domains = text.split(",").map((name) => ({ name, domain: parseAllowedDomain(name) }));
  const wrong = domains.find(({ domain }) => domain === null);
  if (wrong)
    throw new UsageError(
      `--allowed-domains takes host names such as example.com or *.example.com, separated by commas, or any. ${JSON.stringify(wrong.name)} is not a host name.`,
    );
  if (domains.length > ALLOWED_DOMAINS_MAX)
    throw new UsageError(`--allowed-domains takes at most ${ALLOWED_DOMAINS_MAX} names.`);
  return [...new Set(domains.flatMap(({ domain }) => domain ?? []))];
}
