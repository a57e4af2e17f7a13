import type { Generated } from "kysely";
import type { DeliveryId, EndpointId, OrganizationId, RedeliveryId } from "#contract/ids.ts";
import type { AttemptTrigger } from "#contract/webhooks/delivery.ts";

// What claiming deliveries needs: those that wait, and a lane for each endpoint.

type DeliveryQueueTable = {
  delivery_id: DeliveryId;
  organization_id: OrganizationId;
  endpoint_id: EndpointId;
  trigger: AttemptTrigger;
  is_test: boolean;
  due_at: Date;
  lease_token: string | null;
  leased_at: Date | null;
  lease_until: Date | null;
  leased_by: number | null;
  /** Someone asked to retry now: if that fails, the schedule continues then. */
  resume_at: Generated<Date | null>;
  /** The redelivery that queued it, until its first attempt is reported. */
  redelivery_id: Generated<RedeliveryId | null>;
  /** Someone asked to retry this one now: it does not wait for the end of its receiver's pause. */
  is_urgent: Generated<boolean>;
};

export type DeliveryLanesTable = {
  endpoint_id: EndpointId;
  organization_id: OrganizationId;
  state: "open" | "disabled" | "removed";
  is_chat: boolean;
  is_failing: boolean;
  is_answering: Generated<boolean>;
  paused_until: Date | null;
  requests_per_minute: number | null;
  rated_until: Generated<Date | null>;
};

export type QueueTables = {
  delivery_queue: DeliveryQueueTable;
  delivery_lanes: DeliveryLanesTable;
};
