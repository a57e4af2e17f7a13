import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { Attribution } from "#contract/analytics/attribution.ts";
import type { ConnectionErrorCode } from "#contract/app/connections.ts";
import type { Answer } from "#contract/bookings/booking.ts";
import type { ApiKeyId, ConnectionId, OrganizationId, Reference, WidgetId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { KeyScope } from "#contract/scopes.ts";
import type { Offer, Template, WidgetOptions, WidgetStatus } from "#contract/widgets/widget.ts";
import type { Json } from "../statements/json-column.ts";
import type { AccountTables } from "./account-tables.ts";
import type { ChangeTables } from "./change-tables.ts";
import type { QueueTables } from "./queue-tables.ts";
import type { TestModeTables } from "./test-mode-tables.ts";
import type { WebhookTables } from "./webhook-tables.ts";

// The tables as statements see them. migrations/ creates them, and schema.sql shows their current shape.

export type OrganizationsTable = {
  id: OrganizationId;
  name: string;
  plan: Plan;
  time_zone: string | null;
  created_at: Date;
};

export type WidgetsTable = {
  id: WidgetId;
  organization_id: OrganizationId;
  name: string;
  business_name: string;
  booking_url: string | null;
  template: Template;
  status: WidgetStatus;
  collect_data: boolean;
  created_at: Date;
  connection_id: Generated<ConnectionId | null>;
  accent_color: Generated<string | null>;
  allowed_domains: Generated<string[]>;
  /** Only what differs from the defaults. */
  options: ColumnType<Partial<WidgetOptions>, string | undefined, string>;
  /** Keyed by where the widget books: a connection's ID, or `sandbox`. */
  offers: ColumnType<Record<string, Offer>, string | undefined, string>;
};

export type ApiKeysTable = {
  id: ApiKeyId;
  organization_id: OrganizationId;
  name: string;
  key_hash: Buffer;
  first_characters: string;
  last_characters: string;
  created_by: string | null;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  scopes: KeyScope[];
  networks: string[];
};

type ApiKeyUsesTable = {
  organization_id: OrganizationId;
  key_id: ApiKeyId;
  last_used_at: Date;
};

/** Imported bookings have no staff id: the REST shape contains names only. */
export type StoredStaff = { id: string | null; name: string };

export type BookingsTable = {
  organization_id: OrganizationId;
  reference: Reference;
  widget_id: WidgetId;
  status: string;
  created_at: Date;
  start_at: Date;
  end_at: Date;
  time_zone: string;
  service_id: string;
  service_name: string;
  staff: Json<StoredStaff[]>;
  customer_name: string;
  customer_email: string;
  customer_email_key: GeneratedAlways<string>;
  customer_phone: string | null;
  customer_notes: string | null;
  answers: Json<Answer[]>;
  attribution: Json<Attribution>;
  external_id: string | null;
  manage_url: string | null;
  join_url: string | null;
  lacks_event: Generated<boolean>;
  /** Made in test mode: no appointment exists outside of the sandbox. */
  is_test: Generated<boolean>;
  /** The connection that made the appointment, or `sandbox`. Null: imported, or booked before changes were followed. */
  asked_in: ConnectionId | "sandbox" | null;
  /** The conversion name with which it was last exported for Google Ads; null if it never was. */
  google_conversion_name: string | null;
  /** What the read API returns, so that a page is read without putting its bookings together. */
  api_json: string;
};

type BookingClocksTable = {
  organization_id: OrganizationId;
  last_created_at: Date;
};

type BookingReferencesTable = {
  reference: Reference;
  organization_id: OrganizationId;
};

/** Days are text: YYYY-MM-DD. */
type VisitProgressTable = {
  organization_id: OrganizationId;
  kept_since: Generated<Date>;
  packed_before: Date | null;
};

export type SchedulingConnectionsTable = {
  id: ConnectionId;
  organization_id: OrganizationId;
  kind: ConnectionKind;
  name: string;
  /** Has the shape of its kind: scheduler/connections/connection-settings.ts. */
  settings: Json<unknown>;
  credentials: Buffer;
  last_ok_at: Date | null;
  last_error: ConnectionErrorCode | null;
  last_error_at: Date | null;
  last_error_status: number | null;
  last_error_request_id: string | null;
  created_at: Date;
  updated_at: Date;
  /** The system's public page. */
  booking_url: Generated<string | null>;
  booking_url_read_at: Generated<Date | null>;
  follows_changes: Generated<boolean>;
  /** Null: it has had no other account. */
  account_since: Generated<Date | null>;
  changes_since: Generated<Date | null>;
  changes_due_at: Generated<Date | null>;
  subscription_id: Generated<string | null>;
  /** Sealed. */
  subscription_secret: Generated<Buffer | null>;
  subscription_due_at: Generated<Date | null>;
};

type VisitDaysTable = {
  organization_id: OrganizationId;
  day: string;
  outdated: Generated<number>;
  packed_hours: Generated<number>;
  last_at: Date | null;
};

type VisitPacksTable = {
  organization_id: OrganizationId;
  day: string;
  part: number;
  hours: number;
  visits: number;
  last_at: Date | null;
  data: Buffer<ArrayBuffer>;
  digest: GeneratedAlways<Buffer<ArrayBuffer>>;
};

type VisitTotalsTable = {
  organization_id: OrganizationId;
  widget_id: string;
  days: number;
  start: string;
  counts: Buffer;
  keys: Buffer;
};

export type Tables = AccountTables &
  ChangeTables &
  QueueTables &
  TestModeTables &
  WebhookTables & {
    scheduling_connections: SchedulingConnectionsTable;
    visit_progress: VisitProgressTable;
    visit_days: VisitDaysTable;
    visit_packs: VisitPacksTable;
    visit_totals: VisitTotalsTable;
    organizations: OrganizationsTable;
    widgets: WidgetsTable;
    api_keys: ApiKeysTable;
    api_key_uses: ApiKeyUsesTable;
    bookings: BookingsTable;
    booking_clocks: BookingClocksTable;
    booking_references: BookingReferencesTable;
  };
