import { AUDIT_WORDS, type AuditEntry } from "#contract/app/audit.ts";
import { type Format, pluralize } from "../format.ts";

/** All actions in the order of their words, for a list to choose from. */
export const ACTION_CHOICES = Object.entries(AUDIT_WORDS)
  .map(([value, label]) => ({ value, label }))
  .toSorted((a, b) => a.label.localeCompare(b.label, "en"));

/** An unknown action of a newer server is shown as it is. */
export function describeAction(action: string): string {
  return (AUDIT_WORDS as Record<string, string>)[action] ?? action;
}

/** The person, or "Operator" for the command line, or "Bookflow" for what happens automatically. */
export function describeActor({ actor, action }: Pick<AuditEntry, "actor" | "action">): string {
  return actor.name ?? actor.email ?? (action === "endpoint.turned_off" ? "Bookflow" : "Operator");
}

/** The name at that time, with the id; some entries have no name, only an id. */
export function describeTarget(
  { target, detail }: AuditEntry,
  organization: { id: string; name: string },
): { name: string; id: string | null } {
  const name = detail["name"] ?? (target === organization.id ? organization.name : null);
  return name === null ? { name: target ?? "–", id: null } : { name: String(name), id: target };
}

/** "Role: admin", "2 bookings", "Member → admin". */
export function describeDetail(detail: AuditEntry["detail"], format: Format): string {
  const { from, to, name: _, ...rest } = detail;
  const change = from !== undefined && to !== undefined ? [`${from} → ${to}`] : [];
  const facts = Object.entries(rest).map(([name, value]) => describeFact(name, value, format));
  const text = [...change, ...facts].filter(Boolean).join("; ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function describeFact(name: string, value: string | number, format: Format): string {
  switch (name) {
    case "bookings":
      return pluralize(Number(value), "booking");
    case "visits":
      return pluralize(Number(value), "visit");
    case "deliveries":
      return pluralize(Number(value), "delivery", "deliveries");
    case "formerName":
      return `formerly ${value}`;
    case "since":
      return `created since ${format.dateTime(String(value))}`;
    case "reason":
      return OFF_REASONS[String(value)] ?? `reason: ${value}`;
    case "isSearch":
      return value === "yes" ? "search results only" : "";
    case "changed":
      return `changed: ${[...new Set(String(value).split(", ").map(toWords))].join(", ")}`;
    default:
      return `${toWords(name)}: ${value}`;
  }
}

/** Why Bookflow turned an endpoint off. */
const OFF_REASONS: Readonly<Record<string, string>> = {
  gone: "the receiver says it is permanently gone",
  failing: "deliveries kept failing",
};

const FIELD_WORDS: Readonly<Record<string, string>> = {
  collectData: "store bookings",
  accentColor: "accent colour",
  bookingUrl: "booking page",
  connectionId: "connection",
  url: "URL",
  eventTypes: "events",
  widgetIds: "widgets",
  reportsExpiry: "events",
  requestsPerMinute: "rate limit",
};

/** businessName becomes "business name"; the command line writes business_name. */
function toWords(name: string): string {
  const field = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return FIELD_WORDS[field] ?? field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
