import { type Static, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";
import { NullableText } from "./forms.ts";

/** Everything that changes access, or deletes or exports data, as noun and past verb. */
export const AUDIT_ACTIONS = [
  "organization.created",
  "organization.changed",
  "member.added",
  "member.role_changed",
  "member.removed",
  "member.left",
  "invitation.created",
  "invitation.revoked",
  "user.signed_in",
  "user.password_changed",
  "user.password_reset",
  "user.two_factor_enabled",
  "user.two_factor_disabled",
  "user.recovery_codes_made",
  "user.session_ended",
  "api_key.created",
  "api_key.revoked",
  "endpoint.added",
  "endpoint.changed",
  "endpoint.removed",
  "endpoint.secret_rotated",
  "endpoint.tested",
  "endpoint.turned_off",
  "endpoint.retried",
  "delivery.redelivered",
  "delivery.retried",
  "deliveries.redelivered",
  "redelivery.canceled",
  "widget.created",
  "widget.changed",
  "widget.went_live",
  "widget.back_to_test",
  "widget.test_data_cleared",
  "connection.added",
  "connection.changed",
  "connection.removed",
  "booking.deleted",
  "bookings.erased",
  "bookings.exported",
  "audit.exported",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

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
