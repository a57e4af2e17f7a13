import { type Static, Type } from "typebox";
import { Timestamp } from "../timestamps.ts";

/** Everything that changes access, or deletes or exports data, as noun and past verb. */
const AUDIT_ACTIONS = [
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
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AuditEntry = Type.Object({
  id: Type.String(),
  at: Timestamp,
  actor: Type.Object({
    userId: Type.Union([Type.String(), Type.Null()]),
    email: Type.Union([Type.String(), Type.Null()]),
    name: Type.Union([Type.String(), Type.Null()]),
  }),
  action: Type.String(),
  target: Type.Union([Type.String(), Type.Null()]),
  detail: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
});
export type AuditEntry = Static<typeof AuditEntry>;

export const AuditPage = Type.Object({
  data: Type.Array(AuditEntry),
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});
export type AuditPage = Static<typeof AuditPage>;
