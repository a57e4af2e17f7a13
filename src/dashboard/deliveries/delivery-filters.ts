import { before, toInstant } from "../zoned-time.ts";

// The filters of the delivery log as they stand in its address.

export const NO_FILTERS = { endpoint: "", state: "", time: "", from: "", to: "" };
export type DeliveryFilters = typeof NO_FILTERS;

export const TIMES = [
  { value: "", label: "Any time" },
  { value: "hour", label: "Last hour" },
  { value: "day", label: "Last 24 hours" },
  { value: "week", label: "Last 7 days" },
  { value: "between", label: "Between …" },
];

type Range = { from?: string | undefined; to?: string | undefined };

/** As instants. From and to are what a clock in the organization's time zone shows. */
export function toRange({ time, from, to }: DeliveryFilters, timeZone: string): Range {
  switch (time) {
    case "hour":
      return { from: before(1, "hour") };
    case "day":
      return { from: before(1, "day") };
    case "week":
      return { from: before(7, "day") };
    case "between":
      return { from: toInstant(from, timeZone) ?? undefined, to: toInstant(to, timeZone) ?? undefined };
    default:
      return {};
  }
}

export function isFiltered({ endpoint, state, time }: DeliveryFilters): boolean {
  return endpoint !== "" || state !== "" || time !== "";
}
