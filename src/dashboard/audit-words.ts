import type { AuditAction } from "#contract/app/audit.ts";

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
  "delivery.redelivered": "Delivery sent again",
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

/** "Role: admin, bookings: 3". Where something went from one state to another, "member → admin". */
export function describeDetail(detail: Readonly<Record<string, string | number>>): string {
  const { from, to, ...rest } = detail;
  const change = from !== undefined && to !== undefined ? [`${from} → ${to}`] : [];
  const text = [...change, ...Object.entries(rest).map(([name, value]) => `${toWords(name)}: ${value}`)].join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** isSearch becomes "is search". */
function toWords(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
