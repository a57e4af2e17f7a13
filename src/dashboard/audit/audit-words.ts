import type { AuditAction, AuditEntry } from "#contract/app/audit.ts";
import { type Format, pluralize } from "../format.ts";

const WORDS: Record<AuditAction, string> = {
  "organization.created": "Organization created",
  "organization.changed": "Organization changed",
  "member.added": "Member joined",
  "member.role_changed": "Role changed",
  "member.removed": "Member removed",
  "member.left": "Member left",
  "invitation.created": "Invitation created",
  "invitation.revoked": "Invitation revoked",
  "user.signed_in": "Signed in",
  "user.password_changed": "Password changed",
  "user.password_reset": "Password reset",
  "user.two_factor_enabled": "Two-factor authentication turned on",
  "user.two_factor_disabled": "Two-factor authentication turned off",
  "user.recovery_codes_made": "Recovery codes created",
  "user.session_ended": "Session signed out",
  "api_key.created": "API key created",
  "api_key.revoked": "API key revoked",
  "endpoint.added": "Endpoint added",
  "endpoint.changed": "Endpoint changed",
  "endpoint.removed": "Endpoint deleted",
  "endpoint.secret_rotated": "Signing secret rotated",
  "endpoint.tested": "Test sent",
  "endpoint.turned_off": "Endpoint turned off automatically",
  "endpoint.retried": "All pending deliveries retried",
  "delivery.redelivered": "Redelivery requested",
  "delivery.retried": "Delivery retried",
  "deliveries.redelivered": "Bulk redelivery started",
  "redelivery.canceled": "Bulk redelivery cancelled",
  "widget.created": "Widget created",
  "widget.changed": "Widget changed",
  "widget.went_live": "Widget went live",
  "widget.back_to_test": "Widget returned to test mode",
  "widget.test_data_cleared": "Test data cleared",
  "connection.added": "Connection added",
  "connection.changed": "Connection changed",
  "connection.removed": "Connection deleted",
  "booking.deleted": "Booking deleted",
  "bookings.erased": "Customer data erased",
  "bookings.exported": "Bookings exported",
  "audit.exported": "Audit log exported",
};

/** All actions in the order of their words, for a list to choose from. */
export const ACTION_CHOICES = Object.entries(WORDS)
  .map(([value, label]) => ({ value, label }))
  .toSorted((a, b) => a.label.localeCompare(b.label, "en"));

/** An unknown action of a newer server is shown as it is. */
export function describeAction(action: string): string {
  return (WORDS as Record<string, string>)[action] ?? action;
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
    case "isSearch":
      return value === "yes" ? "search results only" : "";
    case "changed":
      return `changed: ${String(value).split(", ").map(toWords).join(", ")}`;
    default:
      return `${toWords(name)}: ${value}`;
  }
}

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
