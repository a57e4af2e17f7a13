import type { AuditAction, AuditEntry } from "#contract/app/audit.ts";
import { type Format, pluralize } from "../format.ts";

const WORDS: Record<AuditAction, string> = {
  "organization.created": "Organization created",
  "organization.changed": "Organization changed",
  "member.added": "Member joined",
  "member.role_changed": "Role changed",
  "member.removed": "Member removed",
  "member.left": "Member left",
  "invitation.created": "Invitation sent",
  "invitation.withdrawn": "Invitation withdrawn",
  "user.signed_in": "Signed in",
  "user.password_changed": "Password changed",
  "user.password_reset": "Password reset by link",
  "user.two_factor_enabled": "Two-factor sign-in switched on",
  "user.two_factor_disabled": "Two-factor sign-in switched off",
  "user.recovery_codes_made": "Recovery codes made",
  "user.session_ended": "Sign-in ended",
  "api_key.created": "API key created",
  "api_key.revoked": "API key revoked",
  "endpoint.added": "Webhook endpoint added",
  "endpoint.changed": "Webhook endpoint changed",
  "endpoint.removed": "Webhook endpoint removed",
  "endpoint.secret_rotated": "Signing secret rotated",
  "endpoint.tested": "Test delivery sent",
  "delivery.redelivered": "Redelivered",
  "widget.created": "Widget created",
  "widget.changed": "Widget changed",
  "connection.added": "Connection added",
  "connection.changed": "Connection changed",
  "connection.removed": "Connection removed",
  "booking.deleted": "Booking deleted",
  "bookings.erased": "Bookings erased by e-mail address",
  "bookings.exported": "Bookings exported",
};

/** An action that this page is too old to know is shown as it is. */
export function describeAction(action: string): string {
  return (WORDS as Record<string, string>)[action] ?? action;
}

/** The name that it had then, and its id beside it; entries from before names were written down have the id only. */
export function describeTarget(
  { target, detail }: AuditEntry,
  organization: { id: string; name: string },
): { name: string; id: string | null } {
  const name = detail["name"] ?? (target === organization.id ? organization.name : null);
  return name === null ? { name: target ?? "–", id: null } : { name: String(name), id: target };
}

/** "Role: admin"; "2 bookings". Where something went from one state to another, "Member → admin". */
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
    case "deliveries":
      return pluralize(Number(value), "delivery", "deliveries");
    case "formerName":
      return `formerly ${value}`;
    case "since":
      return `made since ${format.dateTime(String(value))}`;
    case "isSearch":
      return value === "yes" ? "only what a search found" : "";
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
};

/** businessName becomes "business name"; the command line writes business_name. */
function toWords(name: string): string {
  const field = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return FIELD_WORDS[field] ?? field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
