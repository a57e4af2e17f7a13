import type { ColumnType, Generated } from "kysely";
import type {
  DeliveryId,
  EndpointId,
  OrganizationId,
  RedeliveryId,
  Reference,
  WebhookEventId,
  WidgetId,
} from "#contract/ids.ts";
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
} from "#contract/webhooks/delivery.ts";
import type { EndpointDisabledReason, EndpointKind, EndpointStatus } from "#contract/webhooks/endpoint.ts";
import type { WebhookEventType } from "#contract/webhooks/webhook-event.ts";

// What webhooks send, where to, and what became of it.

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
  services: Generated<string[] | null>;
  channels: Generated<string[] | null>;
  sources: Generated<string[] | null>;
  campaigns: Generated<string[] | null>;
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

export type WebhookTables = {
  webhook_events: WebhookEventsTable;
  event_clocks: EventClocksTable;
  endpoints: EndpointsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  redeliveries: RedeliveriesTable;
  attempt_totals: AttemptTotalsTable;
  endpoint_notices: EndpointNoticesTable;
};
