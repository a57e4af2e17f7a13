import { DAY_MS } from "../durations.ts";

export const DIMENSIONS = ["channel", "source", "campaign", "page", "device", "country", "widget", "service"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** The key of visits without a campaign, page, device or country, and of bookings without a service. */
export const NOT_SET = "(not set)";

/** Upper limits of the groups of lead times, in days; the last group has none. */
export const LEAD_DAYS = [1, 2, 4, 8, 15, 31] as const;

const LEAD_LIMITS_MS = LEAD_DAYS.map((days) => days * DAY_MS);

/** The index of its group among the lead times; -1 if it is unknown (NaN). */
export function toLeadGroup(leadMs: number): number {
  if (Number.isNaN(leadMs)) return -1;
  const longer = LEAD_LIMITS_MS.findIndex((limitMs) => leadMs < limitMs);
  return longer === -1 ? LEAD_LIMITS_MS.length : longer;
}

/** `weekday` and `hour` choose when views and bookings happened; `leadTime` chooses bookings by LEAD_DAYS. */
export const TIME_KEYS = {
  weekday: ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
  hour: Array.from({ length: 24 }, (_, hour) => String(hour)),
  leadTime: ["0", "1", "2-3", "4-7", "8-14", "15-30", "31-or-more"],
} as const;
export type TimeDimension = keyof typeof TIME_KEYS;

export const FILTER_DIMENSIONS = [...DIMENSIONS, "weekday", "hour", "leadTime"] as const;
export type FilterDimension = (typeof FILTER_DIMENSIONS)[number];

export function isTimeDimension(dimension: FilterDimension): dimension is TimeDimension {
  return Object.hasOwn(TIME_KEYS, dimension);
}

/** The keys of channels, as in GA4's default channel groups. */
export const CHANNELS = [
  "Direct",
  "Cross-network",
  "Paid Shopping",
  "Paid Search",
  "Paid Social",
  "Paid Video",
  "Display",
  "Paid Other",
  "AI Assistant",
  "Organic Shopping",
  "Organic Social",
  "Organic Video",
  "Organic Search",
  "Email",
  "Affiliates",
  "Audio",
  "SMS",
  "Mobile Push Notifications",
  "Referral",
  "Unassigned",
] as const;
export type Channel = (typeof CHANNELS)[number];

export const DEVICES = ["mobile", "tablet", "desktop", "other"] as const;
export type Device = (typeof DEVICES)[number];

/** Countries, devices and channels are fixed words, so a filter may write them in any case. */
export function toUsualCase(dimension: FilterDimension, key: string): string {
  switch (dimension) {
    case "country":
      return /^[a-z]{2}$/i.test(key) ? key.toUpperCase() : key;
    case "device":
      return findWord(DEVICES, key);
    case "channel":
      return findWord(CHANNELS, key);
    default:
      return key;
  }
}

function findWord(words: readonly string[], text: string): string {
  return words.find((word) => word.toLowerCase() === text.toLowerCase()) ?? text;
}

/** The query parameter that leaves out visits with a key: `notCountry=DE`. */
export function toNegatedName(dimension: FilterDimension): `not${Capitalize<FilterDimension>}` {
  return `not${dimension.charAt(0).toUpperCase()}${dimension.slice(1)}` as `not${Capitalize<FilterDimension>}`;
}

/** Values per filter parameter, and characters per value. */
export const FILTER_VALUES_MAX = 20;
export const FILTER_LENGTH_MAX = 1_000;
