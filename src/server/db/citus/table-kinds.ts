// Where each table lives on a Citus cluster. docs/scale.md gives the reasons. A table must be in exactly one of these lists;
// distribute.test.ts compares them with the schema.

/** Spread over the servers by organization: all rows of one organization are on the same server. */
export const DISTRIBUTED_TABLES = [
  "appointment_checks",
  "attempt_totals",
  "audit_entries",
  "api_key_uses",
  "booking_changes",
  "booking_clocks",
  "booking_deletions",
  "bookings",
  "change_clocks",
  "deletion_clocks",
  "deliveries",
  "delivery_attempts",
  "delivery_lanes",
  "delivery_queue",
  "endpoint_notices",
  "endpoints",
  "event_clocks",
  "funnel_drops",
  "funnel_keys",
  "funnel_visits",
  "pending_bookings",
  "redeliveries",
  "sandbox_appointments",
  "sandbox_busy",
  "sandboxes",
  "scheduling_connections",
  "visit_days",
  "visit_packs",
  "visit_progress",
  "visit_totals",
  "webhook_events",
] as const;

/** Spread like organizations, but by the booking's reference, which is unique across them. */
export const TABLES_BY_REFERENCE = ["booking_references"] as const;

/** Copied to every server, because they are looked up by something other than the organization. Written rarely. */
export const REFERENCE_TABLES = ["organizations", "organization_logos", "widgets", "live_periods", "api_keys"] as const;

/** On the coordinator only: what belongs to no organization. */
export const COORDINATOR_TABLES = [
  "deleted_organizations",
  "invitations",
  "members",
  "report_links",
  "report_subscriptions",
  "segments",
  "setup_links",
  "user_accounts",
  "user_sessions",
  "user_two_factors",
  "user_verifications",
  "users",
] as const;
