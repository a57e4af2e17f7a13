import { sql } from "kysely";
import type { DeliveryId, Reference, WebhookEventId } from "#contract/ids.ts";
import type { AttemptErrorCode } from "#contract/webhooks/delivery.ts";
import type { EndpointKind } from "#contract/webhooks/endpoint.ts";
import type { WebhookEventType } from "#contract/webhooks/webhook-event.ts";
import type { Db } from "../../db/connections/pool.ts";
import { atHomes, isMoved, table } from "../../db/home.ts";
import { toArrayText } from "../../db/statements/array-text.ts";
import { FixedStatement, ofAnyLength } from "../../db/statements/run-prepared.ts";
import type { ClaimedDelivery } from "./claim-queries.ts";

/** A claimed delivery with everything that sending it takes. */
export type LoadedDelivery = ClaimedDelivery & {
  /** The number of the attempt about to be made. */
  readonly attemptNumber: number;
  readonly retriesUsed: number;
  /** The previous attempt's error. */
  readonly lastError: AttemptErrorCode | null;
  readonly eventId: WebhookEventId;
  readonly type: WebhookEventType;
  /** Null for a test. */
  readonly reference: Reference | null;
  readonly isTestBooking: boolean;
  readonly kind: EndpointKind;
  /** After the claim. Its secrets are deleted. */
  readonly isEndpointRemoved: boolean;
  /** For a chat, only the part that may be shown. */
  readonly url: string;
  readonly sealedUrl: Buffer | null;
  readonly receiver: number;
  /** The event's bytes or the card; null once erased. */
  readonly body: Buffer | null;
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousSecretExpiresAt: Date | null;
  /** Custom request headers, sealed. */
  readonly sealedHeaders: Buffer | null;
};

/** The body is JSON, and travels as text: bytes would come as hexadecimal digits, which are slow to decode. */
type Row = Omit<LoadedDelivery, keyof ClaimedDelivery | "body"> & { deliveryId: DeliveryId; text: string | null };

type Loaded = {
  readonly deliveries: readonly LoadedDelivery[];
  /** Already deleted from the log. */
  readonly missing: readonly ClaimedDelivery[];
  /** Could not be read, and why: a server that is down holds up only the organizations on it. */
  readonly unread: readonly ClaimedDelivery[];
  readonly error: unknown;
};

/** Reads the organizations' tables. Never rejects. */
export async function loadDeliveries(db: Db, claimed: readonly ClaimedDelivery[]): Promise<Loaded> {
  let fault: unknown = null;
  const read = async (reader: Db, some: readonly ClaimedDelivery[]) => {
    const owners = toArrayText(some.map(({ organizationId }) => organizationId));
    const ids = toArrayText(some.map(({ deliveryId }) => deliveryId));
    return await loading.run(reader, { owners, ids });
  };
  const noteFault = (error: unknown) => {
    fault = error;
    return null;
  };
  const groups = await atHomes(db, claimed, ({ reader }, some) =>
    read(reader, some).catch((error: unknown) => {
      if (isMoved(db, error)) throw error;
      return noteFault(error);
    }),
  ).catch(noteFault);
  const found = groups?.filter(({ result }) => result !== null) ?? [];
  const rows = new Map(found.flatMap(({ result }) => result ?? []).map((row) => [row.deliveryId, row]));
  const isRead = new Set(found.flatMap((group) => group.rows));
  return {
    deliveries: claimed.flatMap((delivery) => {
      const row = rows.get(delivery.deliveryId);
      return row ? [toLoaded(delivery, row)] : [];
    }),
    missing: claimed.filter((delivery) => isRead.has(delivery) && !rows.has(delivery.deliveryId)),
    unread: claimed.filter((delivery) => !isRead.has(delivery)),
    error: fault,
  };
}

function toLoaded(delivery: ClaimedDelivery, { text, ...row }: Row): LoadedDelivery {
  return { ...delivery, ...row, body: text === null ? null : Buffer.from(text) };
}

/** Two arrays as text: each id has its owner at the same place. */
type ClaimedIds = { owners: string; ids: string };

const loading = new FixedStatement<Row, ClaimedIds>(
  ({ owners, ids }) => sql`-- prepared: load_deliveries
    select delivery.id as "deliveryId", delivery.attempt_count + 1 as "attemptNumber", delivery.retries_used as "retriesUsed",
      delivery.last_error as "lastError", event.id as "eventId", event.type, event.reference,
      event.is_test_booking as "isTestBooking", endpoint.kind,
      endpoint.removed_at is not null as "isEndpointRemoved", endpoint.url, endpoint.sealed_url as "sealedUrl",
      endpoint.receiver, convert_from(coalesce(delivery.card, event.body), 'UTF8') as text,
      endpoint.secret, endpoint.previous_secret as "previousSecret",
      endpoint.previous_secret_expires_at as "previousSecretExpiresAt", endpoint.headers as "sealedHeaders"
    from unnest(${ofAnyLength(owners, "text[]")}, ${ofAnyLength(ids, "uuid[]")}) as claimed (organization_id, id)
    join ${table("deliveries", "delivery")} on delivery.organization_id = claimed.organization_id and delivery.id = claimed.id
    join ${table("webhook_events", "event")} on event.organization_id = delivery.organization_id and event.id = delivery.event_id
    join ${table("endpoints", "endpoint")} on endpoint.organization_id = delivery.organization_id and endpoint.id = delivery.endpoint_id`,
);
