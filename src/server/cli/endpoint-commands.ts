import { ENDPOINT_DESCRIPTION_LENGTH_MAX } from "#contract/app/endpoints.ts";
import { parseEndpointId } from "#contract/ids.ts";
import {
  CHOSEN_EVENT_TYPES,
  ENDPOINT_FILTERS,
  ENDPOINT_KINDS,
  SECRET_OVERLAP_HOURS,
} from "#contract/webhooks/endpoint.ts";
import { findEndpointOwner } from "../webhooks/webhooks.ts";
import {
  listOf,
  parseChoice,
  parseText,
  readGiven,
  requireOrganization,
  requireOwned,
  toList,
  toSwitch,
} from "./arguments.ts";
import { callRoute } from "./call-route.ts";
import { type Command, type CommandContext, pluralize, UsageError } from "./command.ts";

const FILTER_OPTIONS = ["events", "widgets", ...ENDPOINT_FILTERS];
const FILTERS_USAGE = `[--events ${CHOSEN_EVENT_TYPES.join(",")}] [--widgets WIDGET_ID,…|all] ${ENDPOINT_FILTERS.map((name) => `[--${name} NAME,…|all]`).join(" ")}`;
const SETTING_OPTIONS = ["description", ...FILTER_OPTIONS, "expiry", "headers", "rate"];
const SETTINGS_USAGE = `[--description TEXT] ${FILTERS_USAGE} [--expiry on|off] [--headers JSON] [--rate PER_MINUTE|none]`;

export const ENDPOINT_COMMANDS: readonly Command[] = [
  {
    name: "endpoint add",
    usage: `endpoint add --org ORG --url URL --kind ${ENDPOINT_KINDS.join("|")} ${SETTINGS_USAGE}`,
    summary:
      "send new bookings to a URL; prints the signing secret, which is shown only once; --expiry on also sends booking.erased at the end of retention",
    options: ["org", "url", "kind", ...SETTING_OPTIONS],
    positionals: 0,
    async run(context) {
      const { args } = context;
      const { id: owner } = await requireOrganization(context.db, args.required("org"));
      const kind = parseChoice("kind", args.required("kind"), ENDPOINT_KINDS);
      const body = { url: args.required("url"), kind, ...readGiven(args, SETTINGS) };
      const { endpoint, secret, sameUrlAs } = await callRoute(context, owner, "addEndpoint", { body });
      const { id } = endpoint;
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
      const { id, owner, params } = await requireEndpoint(context);
      await callRoute(context, owner, "deleteEndpoint", { params });
      return { text: `Deleted endpoint ${id}.`, json: { id } };
    },
  },
  {
    name: "endpoint list",
    usage: "endpoint list --org ORG",
    summary: "list an organization's endpoints; Teams and Slack URLs are shortened",
    options: ["org"],
    positionals: 0,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const { data } = await callRoute(context, owner, "listEndpoints");
      const lines = data.map(({ id, kind, status, url }) => `${id}  ${kind}  ${status}  ${url}`);
      return { text: lines.join("\n") || "No endpoints.", json: data };
    },
  },
  {
    name: "endpoint try",
    usage: `endpoint try --org ORG ${FILTERS_USAGE}`,
    summary: "show which of the last 100 events an endpoint with these filters would receive; nothing is sent",
    options: ["org", ...FILTER_OPTIONS],
    positionals: 0,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const trial = await callRoute(context, owner, "tryFilters", { body: readGiven(context.args, FILTERS) });
      const lines = trial.events
        .filter(({ matches }) => matches)
        .map((event) => [event.createdAt, event.type, event.reference, event.service, event.channel].join("  ").trim());
      const heading = `${trial.matching} of the last ${pluralize(trial.events.length, "event")} would be sent.`;
      return { text: [heading, ...lines].join("\n"), json: trial };
    },
  },
  {
    name: "endpoint test",
    usage: "endpoint test ID",
    summary: "send a test event to an endpoint; the delivery log shows the result",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner, params } = await requireEndpoint(context);
      const { deliveryId } = await callRoute(context, owner, "testEndpoint", { params });
      return { text: `Queued test delivery ${deliveryId} to endpoint ${id}.`, json: { id, deliveryId } };
    },
  },
  ...[true, false].map((isEnabled) => toSwitchCommand(isEnabled)),
  {
    name: "endpoint set",
    usage: `endpoint set ID [--url URL] ${SETTINGS_USAGE}`,
    summary: "change an endpoint; --headers replaces all custom headers",
    options: ["url", ...SETTING_OPTIONS],
    positionals: 1,
    async run(context) {
      const { id, owner, params } = await requireEndpoint(context);
      const body = readGiven(context.args, { url: String, ...SETTINGS });
      if (Object.keys(body).length === 0) throw new UsageError(`Nothing to change. Usage: ${this.usage}`);
      await callRoute(context, owner, "changeEndpoint", { params, body });
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
      const { id, owner, params } = await requireEndpoint(context);
      const overlap = context.args.option("overlap");
      const overlapHours = overlap && Number(parseChoice("overlap", overlap, SECRET_OVERLAP_HOURS.map(String)));
      const body = overlapHours === null ? {} : { overlapHours };
      const rotated = await callRoute(context, owner, "rotateSecret", { params, body });
      return {
        text: `Rotated the secret of endpoint ${id}. Save the new one now; it won't be shown again:\n${rotated.secret}`,
        json: { id, ...rotated },
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
      const { id, owner, params } = await requireEndpoint(context);
      const { count } = await callRoute(context, owner, "retryEndpoint", { params });
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
      const { id, owner, params } = await requireEndpoint(context);
      const { status } = await callRoute(context, owner, "changeEndpoint", { params, body: { isEnabled } });
      return { text: `Turned endpoint ${id} ${word}.`, json: { id, status } };
    },
  };
}

const listOrAll = (text: string) => (text === "all" ? null : toList(text));

const FILTERS = {
  eventTypes: listOf(CHOSEN_EVENT_TYPES),
  widgetIds: listOrAll,
  ...Object.fromEntries(ENDPOINT_FILTERS.map((name) => [name, listOrAll])),
};

const SETTINGS = {
  description: toDescription,
  ...FILTERS,
  reportsExpiry: toSwitch,
  headers: parseHeaders,
  requestsPerMinute: (text: string) => (text === "none" ? null : parseRate(text)),
};

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

async function requireEndpoint(context: CommandContext) {
  const { id, owner } = await requireOwned(context, {
    parse: parseEndpointId,
    findOwner: findEndpointOwner,
    unknown: "No endpoint has this ID. Endpoint IDs look like we_….",
  });
  return { id, owner, params: { endpoint: id } };
}
