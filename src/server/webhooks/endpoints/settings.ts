import type { EndpointId, WidgetId } from "#contract/ids.ts";
import {
  type ChosenEventType,
  ENDPOINT_FILTERS,
  ENDPOINT_HEADER_NAME_LENGTH_MAX,
  ENDPOINT_HEADER_VALUE_LENGTH_MAX,
  ENDPOINT_HEADERS_MAX,
  type EndpointFilterName,
  type EndpointFilters,
  type EndpointKind,
} from "#contract/webhooks/endpoint.ts";
import { STANDARD_WEBHOOK_HEADERS, WEBHOOK_HEADERS } from "#contract/webhooks/webhook-event.ts";
import type { Sealer } from "../../lib/secrets/sealed.ts";

// What an endpoint gets and how: event types, widgets, custom headers and rate. Checked when it is saved, so that sending
// relies on it.

export type EndpointSettings = Partial<EndpointFilters> & {
  eventTypes?: readonly ChosenEventType[];
  /** Null: every widget. */
  widgetIds?: readonly string[] | null;
  reportsExpiry?: boolean;
  /** All custom headers; null keeps the current value. */
  headers?: Readonly<Record<string, string | null>>;
  requestsPerMinute?: number | null;
};

/** What the schema can't say, as sentences by field; empty if all settings are valid. `widgets` are the organization's. */
export function findFaults(
  { eventTypes, widgetIds, reportsExpiry, headers }: EndpointSettings,
  { kind, widgets }: { kind: EndpointKind; widgets: ReadonlySet<string> },
): Record<string, string> {
  const isChat = kind !== "webhook";
  const asksForErased = eventTypes?.includes("booking.erased") === true || reportsExpiry === true;
  const faults = {
    eventTypes: isChat && asksForErased ? "Teams and Slack endpoints can't receive booking.erased." : null,
    widgetIds: widgetIds?.every((id) => widgets.has(id)) === false ? "Widget not found." : null,
    headers:
      headers === undefined
        ? null
        : isChat && Object.keys(headers).length > 0
          ? "Teams and Slack endpoints can't have custom headers."
          : findHeaderFault(headers),
  };
  return Object.fromEntries(Object.entries(faults).filter((entry): entry is [string, string] => entry[1] !== null));
}

export const ENTER_HEADERS_AGAIN = "The URL has changed. Enter the values of the custom headers again, or delete them.";

/** Whether some current value of the custom headers `names` stays after these settings are saved. */
export function keepsHeaderValues({ headers }: EndpointSettings, names: readonly string[]): boolean {
  return headers === undefined ? names.length > 0 : Object.values(headers).includes(null);
}

/** The columns of these settings; `before` has the current headers, opened. */
export function toSettingColumns(
  { eventTypes, widgetIds, reportsExpiry, headers, requestsPerMinute, ...filters }: EndpointSettings,
  { id, box, before }: { id: EndpointId; box: Sealer; before: Readonly<Record<string, string>> },
) {
  return {
    ...(eventTypes === undefined ? {} : { event_types: [...new Set(eventTypes)] }),
    // Checked to be ids of the organization's widgets.
    ...(widgetIds === undefined ? {} : { widget_ids: widgetIds && ([...new Set(widgetIds)] as WidgetId[]) }),
    ...toFilterColumns(filters),
    ...(reportsExpiry === undefined ? {} : { reports_expiry: reportsExpiry }),
    ...(headers === undefined ? {} : toHeaderColumns(mergeHeaders(headers, before), { id, box })),
    ...(requestsPerMinute === undefined ? {} : { requests_per_minute: requestsPerMinute }),
  };
}

function toFilterColumns(filters: Partial<EndpointFilters>): Partial<Record<EndpointFilterName, string[] | null>> {
  const given = ENDPOINT_FILTERS.filter((name) => filters[name] !== undefined);
  return Object.fromEntries(
    given.map((name) => [name, filters[name] ? [...new Set(filters[name].map((value) => value.trim()))] : null]),
  );
}

function mergeHeaders(
  wanted: Readonly<Record<string, string | null>>,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  const kept = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), value]));
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([name, value]) => {
      const text = value?.trim() ?? kept.get(name.toLowerCase());
      return text === undefined ? [] : [[name, text]];
    }),
  );
}

function toHeaderColumns(headers: Record<string, string>, { id, box }: { id: EndpointId; box: Sealer }) {
  const names = Object.keys(headers);
  return { header_names: names, headers: names.length === 0 ? null : box.seal(id, JSON.stringify(headers)) };
}

/** Headers that we set, that frame the request, or that ask for another protocol. */
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.values(WEBHOOK_HEADERS).map((name) => name.toLowerCase()),
  ...Object.values(STANDARD_WEBHOOK_HEADERS),
  ...["accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host"],
  ...["keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"],
]);
const RESERVED_PREFIX = /^(?:service|webhook|proxy)-/;

/** Many receivers can't tell `Service_Signature` from `Service-Signature`: CGI turns both into HTTP_SERVICE_SIGNATURE. */
function toComparedName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "-");
}

function findHeaderFault(headers: Readonly<Record<string, string | null>>): string | null {
  const names = Object.keys(headers);
  if (names.length > ENDPOINT_HEADERS_MAX) return `Use at most ${ENDPOINT_HEADERS_MAX} headers.`;
  if (new Set(names.map(toComparedName)).size < names.length) return "Each header can be set only once.";
  for (const [name, value] of Object.entries(headers)) {
    const isToken = name.length <= ENDPOINT_HEADER_NAME_LENGTH_MAX && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
    if (!isToken) return "A header name consists of letters, digits and hyphens.";
    const compared = toComparedName(name);
    if (RESERVED.has(compared) || RESERVED_PREFIX.test(compared)) return `The header ${name} can't be set.`;
    if (value === null) continue;
    const text = value.trim();
    if (text === "" || text.length > ENDPOINT_HEADER_VALUE_LENGTH_MAX || !/^[\x20-\x7e]+$/.test(text))
      return `The value of ${name} must have 1 to ${ENDPOINT_HEADER_VALUE_LENGTH_MAX} ASCII characters.`;
  }
  return null;
}
