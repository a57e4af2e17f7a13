import type { AppEndpoint, NewEndpoint } from "#contract/app/endpoints.ts";
import { type ChosenEventType, ENDPOINT_FILTERS } from "#contract/webhooks/endpoint.ts";

// The fields of the dialogs that add and edit an endpoint, and their way to and from the API.

/** Not an event type: whether booking.erased is also sent when a booking expires. */
export const EXPIRY = "expiry";
/** Stands for a header's value, which is never shown again. */
const MASK = "…";

export type EndpointValues = {
  url: string;
  description: string;
  eventTypes: string[];
  /** Empty: every widget. */
  widgetIds: string[];
  /** Empty: all of them, as for the next three. */
  services: string[];
  channels: string[];
  sources: string[];
  campaigns: string[];
  /** One header per line. */
  headers: string;
  /** Empty: no limit. */
  requestsPerMinute: string;
};

export const NEW_ENDPOINT: EndpointValues = {
  url: "",
  description: "",
  eventTypes: ["booking.created"],
  widgetIds: [],
  services: [],
  channels: [],
  sources: [],
  campaigns: [],
  headers: "",
  requestsPerMinute: "",
};

/** A chat endpoint's URL is never shown whole, so its field starts empty. */
export function toValues(endpoint: AppEndpoint): EndpointValues {
  return {
    url: endpoint.kind === "webhook" ? endpoint.url : "",
    description: endpoint.description,
    eventTypes: [...endpoint.eventTypes, ...(endpoint.reportsExpiry ? [EXPIRY] : [])],
    widgetIds: endpoint.widgetIds ?? [],
    services: endpoint.services ?? [],
    channels: endpoint.channels ?? [],
    sources: endpoint.sources ?? [],
    campaigns: endpoint.campaigns ?? [],
    headers: endpoint.headerNames.map((name) => `${name}: ${MASK}`).join("\n"),
    requestsPerMinute: endpoint.requestsPerMinute === null ? "" : String(endpoint.requestsPerMinute),
  };
}

type Settings = Omit<NewEndpoint, "kind" | "url"> & { url?: string };

/** Fields that are missing stay as they are. */
export function toBody(values: Partial<EndpointValues>): Settings {
  const { url, description, eventTypes, headers, requestsPerMinute } = values;
  return {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(eventTypes === undefined
      ? {}
      : {
          // The checkboxes have no other values.
          eventTypes: eventTypes.filter((each) => each !== EXPIRY) as ChosenEventType[],
          reportsExpiry: eventTypes.includes(EXPIRY),
        }),
    ...toLimits(values),
    ...(headers === undefined ? {} : { headers: parseHeaders(headers) }),
    ...(requestsPerMinute === undefined ? {} : { requestsPerMinute: parseRate(requestsPerMinute) }),
  };
}

/** What bookings are limited to; an empty list means all. */
export function toLimits(values: Partial<EndpointValues>): Pick<NewEndpoint, (typeof LIMITS)[number]> {
  const given = LIMITS.flatMap((name) => {
    const chosen = values[name];
    return chosen === undefined ? [] : [[name, chosen.length === 0 ? null : chosen]];
  });
  return Object.fromEntries(given);
}

const LIMITS = ["widgetIds", ...ENDPOINT_FILTERS] as const;

/** What the server compares with the endpoint; headers are not compared, as their values are never shown. */
export function toSeen(values: Partial<EndpointValues>): Record<string, unknown> {
  const { headers: _, ...seen } = toBody(values);
  return seen;
}

/** A masked value keeps the current one. A line without a colon becomes a header without a value, which the server refuses. */
export function parseHeaders(text: string): Record<string, string | null> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...rest] = line.split(":");
      const value = rest.join(":").trim();
      return [name.trim(), value === MASK ? null : value];
    }),
  );
}

/** Anything but a number becomes 0, which the server refuses with a sentence. */
function parseRate(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return /^[0-9]{1,9}$/.test(trimmed) ? Number(trimmed) : 0;
}
