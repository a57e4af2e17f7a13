import { AUDIT_WORDS, type AuditEntry } from "#contract/app/audit.ts";
import { describeReportQuery } from "../analytics/report-state.ts";
import { type Format, pluralize } from "../format.ts";
import type { Paths } from "../paths.ts";

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

type Words = { format: Format; widgetNames: ReadonlyMap<string, string> };

/** "Role: admin", "2 bookings", "Member → admin". */
export function describeDetail(detail: AuditEntry["detail"], words: Words): string {
  const { from, to, name: _, ...rest } = detail;
  const change = from !== undefined && to !== undefined ? [`${from} → ${to}`] : [];
  const facts = Object.entries(rest).map(([name, value]) =>
    name === "changed" ? describeChanged(String(value), detail) : describeFact(name, value, words),
  );
  const text = [...change, ...facts].filter(Boolean).join("; ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function describeFact(name: string, value: string | number, { format, widgetNames }: Words): string {
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
    case "report":
      return describeReportQuery(String(value), widgetNames);
    case "isSearch":
      return value === "yes" ? "search results only" : "";
    default:
      return `${toWords(name)}: ${value}`;
  }
}

/** The fields whose old and new values aren't among the facts; a new name is one of them. */
function describeChanged(fields: string, detail: AuditEntry["detail"]): string {
  const others = fields.split(", ").filter((field) => !(field in detail) || field === "name");
  const named = others.filter((field) => field !== "name" || detail["formerName"] === undefined);
  return named.length === 0 ? "" : `changed: ${[...new Set(named.map(toWords))].join(", ")}`;
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

/** The screen that shows what an entry is about; null if it is gone, or has no screen. */
export function toTargetLink({ action, target }: Pick<AuditEntry, "action" | "target">, paths: Paths): string | null {
  if (target === null || GONE.includes(action)) return null;
  const noun = action.split(".")[0] ?? "";
  switch (noun) {
    case "widget":
      return paths.widget(target);
    case "endpoint":
      return paths.endpoint(target);
    case "delivery":
      return paths.delivery(target);
    case "deliveries":
    case "redelivery":
      return paths.deliveries;
    case "connection":
      return paths.connections;
    case "api_key":
      return paths.keys;
    case "member":
    case "invitation":
      return paths.members;
    case "report_link":
    case "segment":
      return paths.analytics;
    case "organization":
      return paths.settings;
    default:
      return null;
  }
}

const GONE: readonly string[] = [
  "endpoint.removed",
  "connection.removed",
  "segment.deleted",
  "member.removed",
  "member.left",
];
