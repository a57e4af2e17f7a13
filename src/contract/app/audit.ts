import { type Static, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";
import { NullableText } from "./forms.ts";

/** Everything that changes access, or deletes or exports data, as noun and past verb, in the words that the dashboard shows. */
export const AUDIT_WORDS = {
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
  "user.oidc_connected": "Single sign-on connected",
  "user.oidc_disconnected": "Single sign-on disconnected",
  "user.session_ended": "Session signed out",
  "api_key.created": "API key created",
  "api_key.revoked": "API key revoked",
  "endpoint.added": "Endpoint added",
  "endpoint.changed": "Endpoint changed",
  "endpoint.removed": "Endpoint deleted",
  "endpoint.secret_rotated": "Signing secret rotated",
  "endpoint.tested": "Test sent",
  "endpoint.turned_off": "Endpoint turned off automatically",
  "endpoint.retried": "All queued deliveries retried",
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
  "segment.created": "Segment saved",
  "segment.changed": "Segment renamed",
  "segment.deleted": "Segment deleted",
  "report_link.created": "Report shared by link",
  "report_link.revoked": "Link to a report revoked",
  "booking.deleted": "Booking deleted",
  "bookings.erased": "Customer data erased",
  "bookings.exported": "Bookings exported",
  "audit.exported": "Audit log exported",
} as const;
export type AuditAction = keyof typeof AUDIT_WORDS;
// An object's keys are those that it was written with.
export const AUDIT_ACTIONS = Object.keys(AUDIT_WORDS) as AuditAction[];

/** Filters entries without a person: those of the command line and of Bookflow itself. */
export const OPERATOR = "operator";

/** Someone who did something, even if they have left since. */
const AuditPerson = Type.Object({ userId: Type.String(), email: NullableText, name: NullableText });

export const AuditPeople = Type.Object({ data: Type.Array(AuditPerson) });
export type AuditPeople = Static<typeof AuditPeople>;

export const AuditEntry = Type.Object({
  id: Type.String(),
  at: Timestamp,
  actor: Type.Object({ userId: NullableText, email: NullableText, name: NullableText }),
  action: Type.String(),
  target: NullableText,
  detail: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Type.Object({
  data: Type.Array(AuditEntry),
  nextCursor: NullableText,
});
export type AuditPage = Static<typeof AuditPage>;
