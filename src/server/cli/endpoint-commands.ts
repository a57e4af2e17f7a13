import type { AuditAction } from "#contract/app/audit.ts";
import { ENDPOINT_DESCRIPTION_LENGTH_MAX } from "#contract/app/endpoints.ts";
import {
  CHOSEN_EVENT_TYPES,
  ENDPOINT_FILTERS,
  ENDPOINT_KINDS,
  type EndpointFilters,
  SECRET_OVERLAP_HOURS,
  SECRET_OVERLAP_HOURS_DEFAULT,
} from "#contract/endpoint.ts";
import { type EndpointId, type OrganizationId, parseEndpointId } from "#contract/ids.ts";
import { planIncludes } from "#contract/plans.ts";
import { auditByOperator } from "../audit/audit-by.ts";
import { findOrganization, type OrganizationRow } from "../organizations/queries.ts";
import { auditEndpoint } from "../webhooks/endpoints/audit.ts";
import {
  type Alongside,
  addEndpoint,
  deleteEndpoint,
  editEndpoint,
  type Refusal,
  rotateSecret,
} from "../webhooks/endpoints/endpoints.ts";
import { findEndpointOwner, listEndpoints } from "../webhooks/endpoints/queries.ts";
import { describeRefusal } from "../webhooks/endpoints/refusal-texts.ts";
import { sendTestEvent } from "../webhooks/endpoints/send-test-event.ts";
import type { EndpointSettings } from "../webhooks/endpoints/settings.ts";
import { tryFilters } from "../webhooks/endpoints/try-filters.ts";
import { retryAll } from "../webhooks/log/retry.ts";
import { type Arguments, parseChoice, parseSwitch, parseText, requireOrganization } from "./arguments.ts";
import type { Command, CommandContext } from "./command.ts";
import { pluralize } from "./pluralize.ts";
import { UsageError } from "./usage-error.ts";

const FILTER_OPTIONS = ["events", "widgets", ...ENDPOINT_FILTERS];
const FILTERS_USAGE = `[--events ${CHOSEN_EVENT_TYPES.join(",")}] [--widgets WIDGET_ID,…|all] ${ENDPOINT_FILTERS.map((name) => `[--${name} NAME,…|all]`).join(" ")}`;
const SETTING_OPTIONS = [...FILTER_OPTIONS, "expiry", "headers", "rate"];
const SETTINGS_USAGE = `${FILTERS_USAGE} [--expiry on|off] [--headers JSON] [--rate PER_MINUTE|none]`;

export const ENDPOINT_COMMANDS: readonly Command[] = [
  {
    name: "endpoint add",
    usage: `endpoint add --org ORG --url URL --kind ${ENDPOINT_KINDS.join("|")} [--description TEXT] ${SETTINGS_USAGE}`,
    summary:
      "send new bookings to a URL; prints the signing secret, which is shown only once; --expiry on also sends booking.erased at the end of retention",
    options: ["org", "url", "kind", "description", ...SETTING_OPTIONS],
    positionals: 0,
    async run(context) {
      const { args } = context;
      const organization = await requireOrganization(context.db, args.required("org"));
      const description = args.option("description");
      const wanted = {
        url: args.required("url"),
        kind: parseChoice("kind", args.required("kind"), ENDPOINT_KINDS),
        description: description === null ? "" : parseText("description", description, ENDPOINT_DESCRIPTION_LENGTH_MAX),
        settings: readSettings(args),
      };
      const outcome = await addEndpoint(
        context,
        organization,
        wanted,
        audited(context, organization.id, "endpoint.added"),
      );
      if (outcome.kind !== "added") throw toUsageError(outcome);
      const { id, secret, sameUrlAs } = outcome;
      const saved = secret === null ? "" : ` Save its signing secret now; it won't be shown again:\n${secret}`;
      const warning =
        sameUrlAs === null
          ? ""
          : `\nEndpoint ${sameUrlAs} has the same URL, so events that both endpoints receive are sent to this URL twice.`;
      return { text: `Added endpoint ${id}.${saved}${warning}`, json: { id, secret, sameUrlAs } };
    },
  },
  {
    name: "endpoint delete",
    usage: "endpoint delete ID",
    summary: "delete an endpoint and cancel its queued deliveries",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const alongside = audited(context, owner.id, "endpoint.removed");
      if (!(await deleteEndpoint(context, owner.id, id, alongside))) throw new UsageError(NO_ENDPOINT);
      return { text: `Deleted endpoint ${id}.`, json: { id } };
    },
  },
  {
    name: "endpoint list",
    usage: "endpoint list --org ORG",
    summary: "list an organization's endpoints; Teams and Slack URLs are shortened",
    options: ["org"],
    positionals: 0,
    async run({ db, args }) {
      const organization = await requireOrganization(db, args.required("org"));
      const endpoints = (await listEndpoints(db, organization.id)).map((row) => ({
        id: row.id,
        kind: row.kind,
        url: row.url,
        description: row.description,
        status: row.status,
        disabledReason: row.disabled_reason,
        eventTypes: row.event_types,
        widgetIds: row.widget_ids,
        services: row.services,
        channels: row.channels,
        sources: row.sources,
        campaigns: row.campaigns,
        headerNames: row.header_names,
        requestsPerMinute: row.requests_per_minute,
        lastStatus: row.last_status,
        lastSuccessAt: row.last_success_at?.toISOString() ?? null,
        createdAt: row.created_at.toISOString(),
      }));
      const lines = endpoints.map(({ id, kind, status, url }) => `${id}  ${kind}  ${status}  ${url}`);
      return { text: lines.join("\n") || "No endpoints.", json: endpoints };
    },
  },
  {
    name: "endpoint try",
    usage: `endpoint try --org ORG ${FILTERS_USAGE}`,
    summary: "show which of the last 100 events an endpoint with these filters would receive; nothing is sent",
    options: ["org", ...FILTER_OPTIONS],
    positionals: 0,
    async run({ db, args }) {
      const organization = await requireOrganization(db, args.required("org"));
      const outcome = await tryFilters(db, organization.id, readSettings(args));
      if (outcome.kind !== "tried") throw toUsageError(outcome);
      const { events, matching } = outcome.trial;
      const lines = events
        .filter(({ matches }) => matches)
        .map((event) => [event.createdAt, event.type, event.reference, event.service, event.channel].join("  ").trim());
      const heading = `${matching} of the last ${pluralize(events.length, "event")} would be sent.`;
      return { text: [heading, ...lines].join("\n"), json: outcome.trial };
    },
  },
  {
    name: "endpoint test",
    usage: "endpoint test ID",
    summary: "send a test event to an endpoint; the delivery log shows the result",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const outcome = await sendTestEvent(context, owner, id, (transaction, endpoint, delivery) =>
        audited(context, owner.id, "endpoint.tested", { delivery })(transaction, endpoint),
      );
      if (outcome.kind !== "queued") throw toUsageError(outcome);
      const { deliveryId } = outcome;
      return { text: `Queued test delivery ${deliveryId} to endpoint ${id}.`, json: { id, deliveryId } };
    },
  },
  ...[true, false].map((isEnabled) => toSwitchCommand(isEnabled)),
  {
    name: "endpoint set",
    usage: `endpoint set ID [--url URL] [--description TEXT] ${SETTINGS_USAGE}`,
    summary: "change an endpoint; --headers replaces all custom headers",
    options: ["url", "description", ...SETTING_OPTIONS],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const { args } = context;
      const [url, description] = [args.option("url"), args.option("description")];
      const settings = readSettings(args);
      const wanted = {
        id,
        ...(url === null ? {} : { url }),
        ...(description === null ? {} : { description: toDescription(description) }),
        settings,
      };
      const changed = [...(url === null ? [] : ["url"]), ...(description === null ? [] : ["description"])];
      const names = [...changed, ...Object.keys(settings)];
      if (names.length === 0) throw new UsageError(`Nothing to change. Usage: ${this.usage}`);
      const alongside = audited(context, owner.id, "endpoint.changed", { changed: names.join(", ") });
      const outcome = await editEndpoint(context, owner.id, wanted, alongside);
      if (outcome.kind !== "edited") throw toUsageError(outcome);
      return { text: `Changed endpoint ${id}.`, json: { id } };
    },
  },
  {
    name: "endpoint rotate",
    usage: `endpoint rotate ID [--overlap ${SECRET_OVERLAP_HOURS.join("|")}]`,
    summary: "replace the signing secret; the old one stays valid for --overlap hours (default 24)",
    options: ["overlap"],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const typed = context.args.option("overlap") ?? String(SECRET_OVERLAP_HOURS_DEFAULT);
      const chosen = parseChoice("overlap", typed, SECRET_OVERLAP_HOURS.map(String));
      const overlapHours =
        SECRET_OVERLAP_HOURS.find((hours) => String(hours) === chosen) ?? SECRET_OVERLAP_HOURS_DEFAULT;
      const detail = { overlap: overlapHours === 0 ? "none" : `${overlapHours} h` };
      const alongside = audited(context, owner.id, "endpoint.secret_rotated", detail);
      const outcome = await rotateSecret(context, owner.id, { id, overlapHours }, alongside);
      if (outcome.kind !== "rotated") throw toUsageError(outcome);
      const { secret } = outcome;
      const previousSecretExpiresAt = outcome.previousExpiresAt?.toISOString() ?? null;
      return {
        text: `Rotated the secret of endpoint ${id}. Save the new one now; it won't be shown again:\n${secret}`,
        json: { id, secret, previousSecretExpiresAt },
      };
    },
  },
  {
    name: "endpoint retry",
    usage: "endpoint retry ID",
    summary: "retry all queued and retrying deliveries of an endpoint now",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      const outcome = await retryAll(context, owner.id, id, (transaction, endpoint, count) =>
        audited(context, owner.id, "endpoint.retried", { deliveries: count })(transaction, endpoint),
      );
      if (outcome.kind !== "retried") throw toUsageError(outcome);
      const { count } = outcome;
      return { text: `Retrying ${pluralize(count, "delivery", "deliveries")} now.`, json: { id, count } };
    },
  },
];

function toSwitchCommand(isEnabled: boolean): Command {
  const [verb, word] = isEnabled ? ["enable", "on"] : ["disable", "off"];
  return {
    name: `endpoint ${verb}`,
    usage: `endpoint ${verb} ID`,
    summary: `turn an endpoint ${word}`,
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireEndpoint(context);
      if (isEnabled && !planIncludes(owner.plan, "webhooks"))
        throw new UsageError(describeRefusal({ kind: "plan_required" }));
      const detail = { status: isEnabled ? "enabled" : "disabled" };
      const alongside = audited(context, owner.id, "endpoint.changed", detail);
      const outcome = await editEndpoint(context, owner.id, { id, isEnabled }, alongside);
      if (outcome.kind !== "edited") throw toUsageError(outcome);
      return { text: `Turned endpoint ${id} ${word}.`, json: { id, ...detail } };
    },
  };
}

/** The settings that were given; "all" and "none" remove a limit. */
function readSettings(args: Arguments): EndpointSettings {
  const [events, widgets, expiry] = [args.option("events"), args.option("widgets"), args.option("expiry")];
  const [headers, rate] = [args.option("headers"), args.option("rate")];
  return {
    ...(events === null
      ? {}
      : { eventTypes: events.split(",").map((type) => parseChoice("events", type.trim(), CHOSEN_EVENT_TYPES)) }),
    ...(widgets === null ? {} : { widgetIds: widgets === "all" ? null : widgets.split(",").map((id) => id.trim()) }),
    ...readFilters(args),
    ...(expiry === null ? {} : { reportsExpiry: parseSwitch("expiry", expiry) }),
    ...(headers === null ? {} : { headers: parseHeaders(headers) }),
    ...(rate === null ? {} : { requestsPerMinute: rate === "none" ? null : parseRate(rate) }),
  };
}

function readFilters(args: Arguments): Partial<EndpointFilters> {
  const given = ENDPOINT_FILTERS.flatMap((name) => {
    const text = args.option(name);
    return text === null ? [] : [[name, text === "all" ? null : text.split(",").map((value) => value.trim())]];
  });
  return Object.fromEntries(given);
}

/** A JSON object; null keeps the current value of a header. */
function parseHeaders(text: string): Record<string, string | null> {
  const fault = new UsageError(
    '--headers must be a JSON object with strings as values, for example {"X-Api-Key":"abc"}.',
  );
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw fault;
  }
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isRecord || !Object.values(value as object).every((each) => each === null || typeof each === "string"))
    throw fault;
  return value as Record<string, string | null>;
}

function parseRate(text: string): number {
  if (!/^[0-9]{1,5}$/.test(text))
    throw new UsageError("--rate must be a whole number of requests per minute, or none.");
  return Number(text);
}

function toDescription(text: string): string {
  return text === "" ? "" : parseText("description", text, ENDPOINT_DESCRIPTION_LENGTH_MAX);
}

function audited(
  context: CommandContext,
  owner: OrganizationId,
  action: AuditAction,
  detail: Record<string, string | number> = {},
): Alongside {
  return auditEndpoint(auditByOperator(context, owner, context.clock.now()), action, detail);
}

const NO_ENDPOINT = "No endpoint has this ID. Endpoint IDs look like we_….";

async function requireEndpoint(context: CommandContext): Promise<{ id: EndpointId; owner: OrganizationRow }> {
  const id = parseEndpointId(context.args.positional[0] ?? "");
  const owner = id && (await findOwner(context, await findEndpointOwner(context.db, id)));
  // A secret pasted here by mistake must not end up on the screen again.
  if (!owner) throw new UsageError(NO_ENDPOINT);
  return { id, owner };
}

async function findOwner({ db }: CommandContext, id: OrganizationRow["id"] | null): Promise<OrganizationRow | null> {
  return id && (await findOrganization(db, id));
}

function toUsageError(refusal: Refusal): UsageError {
  if (refusal.kind === "invalid") return new UsageError(Object.entries(refusal.fields).map(toOptionFault).join(" "));
  return new UsageError(refusal.kind === "not_found" ? NO_ENDPOINT : describeRefusal(refusal));
}

/** Without `eventTypes`: its fault names the event type, and may be caused by --events or by --expiry. */
const OPTION_BY_FIELD: Readonly<Record<string, string>> = {
  widgetIds: "widgets",
  headers: "headers",
  requestsPerMinute: "rate",
  ...Object.fromEntries(ENDPOINT_FILTERS.map((name) => [name, name])),
};

function toOptionFault([field, fault]: [string, string]): string {
  const option = OPTION_BY_FIELD[field];
  return option === undefined ? fault : `--${option}: ${fault}`;
}
