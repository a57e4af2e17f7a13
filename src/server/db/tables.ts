import type { ColumnType, Generated, GeneratedAlways } from "kysely";
import type { ConnectionErrorCode } from "#contract/app/connections.ts";
import type { Attribution } from "#contract/attribution.ts";
import type { Answer } from "#contract/booking.ts";
import type { DeletionReason } from "#contract/deletion.ts";
import type {
  AttemptDetail,
  AttemptErrorCode,
  AttemptResult,
  AttemptTrigger,
  CancelReason,
  DeliveryState,
  NoticeKind,
  RedeliveryFilter,
  RedeliveryState,
} from "#contract/delivery.ts";
import type { EndpointDisabledReason, EndpointKind, EndpointStatus } from "#contract/endpoint.ts";
import type {
  ApiKeyId,
  ConnectionId,
  DeliveryId,
  EndpointId,
  OrganizationId,
  RedeliveryId,
  Reference,
  WebhookEventId,
  WidgetId,
} from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { KeyScope } from "#contract/scopes.ts";
import type { WebhookEventType } from "#contract/webhook-event.ts";
import type { Template, WidgetStatus } from "#contract/widget.ts";
import type { Offer, WidgetOptions } from "#contract/widget-options.ts";
import type { AccountTables } from "./account-tables.ts";
import type { Json } from "./json-column.ts";
import type { QueueTables } from "./queue-tables.ts";
import type { TestModeTables } from "./test-mode-tables.ts";

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
  /** By what bookings are asked in: a connection's id, or `sandbox`. */
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

export type EndpointsTable = {
  id: EndpointId;
  organization_id: OrganizationId;
  kind: EndpointKind;
  /** For a chat, only the part that may be shown. */
  url: string;
  sealed_url: Buffer | null;
  receiver: Generated<number>;
  description: string;
  status: EndpointStatus;
  disabled_reason: EndpointDisabledReason | null;
  disabled_at: Date | null;
  secret: Buffer;
  secret_hint: string;
  secret_created_at: Date;
  previous_secret: Buffer | null;
  previous_secret_expires_at: Date | null;
  failing_since: Date | null;
  failed_attempts: Generated<number>;
  /** The last attempt succeeded, since the endpoint has this URL and is on. */
  is_answering: Generated<boolean>;
  exhausted_deliveries: Generated<number>;
  refused_deliveries: Generated<number>;
  last_attempt_at: Date | null;
  last_success_at: Date | null;
  last_status: number | null;
  paused_until: Date | null;
  created_at: Date;
  updated_at: Date;
  removed_at: Date | null;
  event_types: Generated<WebhookEventType[]>;
  /** Null: bookings of every widget. */
  widget_ids: Generated<WidgetId[] | null>;
  reports_expiry: Generated<boolean>;
  header_names: Generated<string[]>;
  headers: Generated<Buffer | null>;
  requests_per_minute: Generated<number | null>;
};

type WebhookEventsTable = {
  organization_id: OrganizationId;
  id: WebhookEventId;
  type: WebhookEventType;
  reference: Reference | null;
  widget_id: Generated<WidgetId | null>;
  body: Buffer | null;
  is_test_booking: Generated<boolean>;
  created_at: Date;
  listed_at: Generated<Date | null>;
};

type EventClocksTable = { organization_id: OrganizationId; last_listed_at: Date };

export type DeliveriesTable = {
  organization_id: OrganizationId;
  id: DeliveryId;
  event_id: WebhookEventId;
  endpoint_id: EndpointId;
  state: DeliveryState;
  cancel_reason: CancelReason | null;
  card: Buffer | null;
  attempt_count: number;
  retries_used: number;
  next_attempt_at: Date | null;
  last_status: number | null;
  last_error: AttemptErrorCode | null;
  created_at: Date;
  completed_at: Date | null;
  redelivery_id: Generated<RedeliveryId | null>;
};

export type DeliveryAttemptsTable = {
  organization_id: OrganizationId;
  delivery_id: DeliveryId;
  number: number;
  endpoint_id: EndpointId;
  trigger: AttemptTrigger;
  started_at: Date;
  result: AttemptResult;
  duration_ms: number | null;
  status: number | null;
  error_code: AttemptErrorCode | null;
  reply: string | null;
  reply_is_truncated: Generated<boolean>;
  next_attempt_at: Date | null;
  detail: Generated<AttemptDetail | null>;
};

export type RedeliveriesTable = {
  organization_id: OrganizationId;
  id: RedeliveryId;
  filter: ColumnType<RedeliveryFilter, string, never>;
  state: RedeliveryState;
  matched: number;
  queued: number;
  kept_delivered: Generated<number>;
  kept_failed: Generated<number>;
  kept_canceled: Generated<number>;
  place_at: Date;
  place_id: string;
  created_at: Date;
  finished_at: Date | null;
};

type AttemptTotalsTable = {
  organization_id: OrganizationId;
  interval_hours: number;
  from_at: Date;
  endpoint_id: EndpointId;
  delivered: number;
  failed: number;
  median_ms: number | null;
  p95_ms: number | null;
};

type BookingDeletionsTable = {
  organization_id: OrganizationId;
  deleted_at: Date;
  reference: Reference;
  widget_id: WidgetId;
  reason: DeletionReason;
};

type DeletionClocksTable = { organization_id: OrganizationId; last_deleted_at: Date };

export type EndpointNoticesTable = {
  organization_id: OrganizationId;
  id: string;
  endpoint_id: EndpointId;
  kind: NoticeKind;
  detail: string;
  created_at: Date;
  mailed_at: Date | null;
  /** When emailing it was last attempted; used until it is emailed. */
  mail_tried_at: Date | null;
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
  QueueTables &
  TestModeTables & {
    scheduling_connections: SchedulingConnectionsTable;
    endpoints: EndpointsTable;
    webhook_events: WebhookEventsTable;
    event_clocks: EventClocksTable;
    deliveries: DeliveriesTable;
    delivery_attempts: DeliveryAttemptsTable;
    endpoint_notices: EndpointNoticesTable;
    redeliveries: RedeliveriesTable;
    attempt_totals: AttemptTotalsTable;
    booking_deletions: BookingDeletionsTable;
    deletion_clocks: DeletionClocksTable;
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
