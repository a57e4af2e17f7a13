import type { Query } from "../api/client.ts";
import { instantAgo, toInstant } from "../days.ts";

// Filters of the delivery log, as query parameters.

export const NO_FILTERS = {
  search: "",
  endpoint: "",
  widget: "",
  state: "",
  error: "",
  redelivery: "",
  time: "",
  from: "",
  to: "",
};
export type DeliveryFilters = typeof NO_FILTERS;

export const TIMES = [
  { value: "", label: "Any time" },
  { value: "hour", label: "Last hour" },
  { value: "day", label: "Last 24 hours" },
  { value: "week", label: "Last 7 days" },
  { value: "between", label: "Custom range" },
];

/** What the log is asked for. Times that were chosen as a custom range don't count while another one is chosen. */
export function toQuery({ time, from, to, ...chosen }: DeliveryFilters, timeZone: string): Query {
  return { ...chosen, ...toRange({ time, from, to }, timeZone) };
}

type Range = { from?: string | undefined; to?: string | undefined };

/** The filter's time as instants; `from` and `to` are local times in the organization's time zone. */
export function toRange({ time, from, to }: Pick<DeliveryFilters, "time" | "from" | "to">, timeZone: string): Range {
  switch (time) {
    case "hour":
      return { from: instantAgo(1, "hour") };
    case "day":
      return { from: instantAgo(1, "day") };
    case "week":
      return { from: instantAgo(7, "day") };
    case "between":
      return { from: toInstant(from, timeZone) ?? undefined, to: toInstant(to, timeZone) ?? undefined };
    default:
      return {};
  }
}

export function isFiltered({ from: _from, to: _to, ...chosen }: DeliveryFilters): boolean {
  return Object.values(chosen).some((value) => value !== "");
}

/** Whether a text is complete enough to search for: a reference, an event ID, a delivery ID or an email address. */
export function isSearchable(text: string): boolean {
  return SEARCHABLE.test(text.trim());
}

const SEARCHABLE =
  /^(?:svc-\w{6}|evt_[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^@\s]+@[^@\s]+\.[^@\s]+)$/i;
