import type { Updateable } from "kysely";
import { ENDPOINTS_PER_ORGANIZATION_MAX, type EndpointKind, SIGNING_SECRET_OVERLAP_HOURS } from "#contract/endpoint.ts";
import {
  type DeliveryId,
  ENDPOINT_ID,
  type EndpointId,
  type OrganizationId,
  WEBHOOK_EVENT_ID,
  type WebhookEventId,
} from "#contract/ids.ts";
import { type Plan, planIncludes } from "#contract/plans.ts";
import { type EndpointTestEvent, WEBHOOK_API_VERSION } from "#contract/webhook-event.ts";
import type { Db } from "../db/pool.ts";
import type { EndpointsTable } from "../db/tables.ts";
import { withinTransaction } from "../db/within-transaction.ts";
import type { Deps } from "../deps.ts";
import { randomId, randomUuid } from "../lib/random.ts";
import {
  type EndpointRow,
  findEndpoint,
  insertEndpoint,
  lockEndpoint,
  replaceSecret,
  updateEndpoint,
} from "./endpoint-queries.ts";
import { toCard } from "./outbox.ts";
import { insertEvent } from "./outbox-queries.ts";
import { PLANS_WITH_WEBHOOKS } from "./queue-caps.ts";
import { cancelForbidden } from "./recovery-queries.ts";
import { makeSigningSecret } from "./sign.ts";
import { checkEndpointUrl } from "./url-rules.ts";
import { wakeWorkers } from "./wake-workers.ts";

// What a business does with its endpoints. Expected refusals are values; the caller turns them into words or a status.

export type EndpointDeps = Pick<Deps, "db" | "clock" | "random" | "webhooks">;

const HINT_LENGTH = 4;
const HOUR_MS = 3_600_000;
/** The rest, if there ever is more, is taken out by the workers. */
const CANCEL_BATCH = 10_000;

/** A clean start: what went wrong before no longer counts. */
const WELL = {
  failing_since: null,
  failed_attempts: 0,
  exhausted_deliveries: 0,
  refused_deliveries: 0,
  paused_until: null,
} as const;

/** What else is written in the transaction that makes the change, such as who made it. */
export type Alongside = (transaction: Db, id: EndpointId) => Promise<void>;
const nothingElse: Alongside = async () => undefined;

export type Refusal =
  | { kind: "plan_required" }
  | { kind: "url_refused"; reason: string }
  | { kind: "too_many" }
  | { kind: "not_found" }
  | { kind: "disabled" };

export async function addEndpoint(
  deps: EndpointDeps,
  owner: { id: OrganizationId; plan: Plan },
  wanted: { url: string; kind: EndpointKind; description: string },
  alongside = nothingElse,
): Promise<{ kind: "added"; id: EndpointId; secret: string } | Refusal> {
  if (!planIncludes(owner.plan, "webhooks")) return { kind: "plan_required" };
  const verdict = await checkEndpointUrl(deps.webhooks, wanted.url);
  if (verdict.kind === "refused") return { kind: "url_refused", reason: verdict.reason };

  const id = randomId<EndpointId>(deps.random, ENDPOINT_ID);
  const secret = makeSigningSecret(deps.random);
  const now = deps.clock.now();
  const isAdded = await withinTransaction(deps.db, async (transaction) => {
    const isInserted = await insertEndpoint(transaction, owner.id, {
      most: ENDPOINTS_PER_ORGANIZATION_MAX,
      row: {
        id,
        kind: wanted.kind,
        url: verdict.url,
        description: wanted.description,
        status: "enabled",
        disabled_reason: null,
        disabled_at: null,
        secret: deps.webhooks.secretBox.seal(id, secret),
        secret_hint: secret.slice(-HINT_LENGTH),
        secret_created_at: now,
        previous_secret: null,
        previous_secret_expires_at: null,
        failing_since: null,
        last_attempt_at: null,
        last_success_at: null,
        last_status: null,
        paused_until: null,
        created_at: now,
        updated_at: now,
        removed_at: null,
      },
    });
    if (isInserted) await alongside(transaction, id);
    return isInserted;
  });
  return isAdded ? { kind: "added", id, secret } : { kind: "too_many" };
}

/**
 * Another URL is another receiver: what the old one did no longer counts. Waiting deliveries go to the new one. `check` sees
 * the endpoint as it is, held in the transaction that changes it; what it throws ends that.
 */
export async function editEndpoint(
  deps: EndpointDeps,
  owner: OrganizationId,
  wanted: { id: EndpointId; url?: string; description?: string; check?: (before: EndpointRow) => void },
  alongside = nothingElse,
): Promise<{ kind: "edited"; endpoint: EndpointRow } | Refusal> {
  const verdict = wanted.url === undefined ? null : await checkEndpointUrl(deps.webhooks, wanted.url);
  if (verdict?.kind === "refused") return { kind: "url_refused", reason: verdict.reason };
  const change = {
    ...(verdict ? { url: verdict.url, ...WELL } : {}),
    ...(wanted.description === undefined ? {} : { description: wanted.description }),
    updated_at: deps.clock.now(),
  };
  const endpoint = await withinTransaction(deps.db, async (transaction) => {
    const before = await lockEndpoint(transaction, owner, wanted.id);
    if (before) wanted.check?.(before);
    return await changeEndpoint(transaction, owner, { id: wanted.id, change, alongside });
  });
  return endpoint ? { kind: "edited", endpoint } : { kind: "not_found" };
}

export async function enableEndpoint(
  deps: EndpointDeps,
  owner: OrganizationId,
  id: EndpointId,
  alongside = nothingElse,
): Promise<EndpointRow | null> {
  const updated_at = deps.clock.now();
  const change = { status: "enabled", disabled_reason: null, disabled_at: null, ...WELL, updated_at } as const;
  return await changeEndpoint(deps.db, owner, { id, change, alongside });
}

/** Nothing more is sent, retries that wait included; what it misses is recorded as canceled. */
export async function disableEndpoint(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  id: EndpointId,
  alongside = nothingElse,
): Promise<EndpointRow | null> {
  const now = deps.clock.now();
  const change = { status: "disabled", disabled_reason: "manual", disabled_at: now, updated_at: now } as const;
  return await closeEndpoint(deps.db, owner, { id, change, now, alongside });
}

/** Its row stays for the delivery log; its secrets are of no more use. */
export async function removeEndpoint(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  id: EndpointId,
  alongside = nothingElse,
): Promise<boolean> {
  const now = deps.clock.now();
  const change = { removed_at: now, updated_at: now, secret: Buffer.alloc(0), previous_secret: null } as const;
  return (await closeEndpoint(deps.db, owner, { id, change, now, alongside })) !== null;
}

type Change = { id: EndpointId; change: Updateable<EndpointsTable>; alongside: Alongside };

async function changeEndpoint(db: Db, owner: OrganizationId, about: Change): Promise<EndpointRow | null> {
  return await withinTransaction(db, async (transaction) => {
    const endpoint = await updateEndpoint(transaction, owner, about);
    if (endpoint) await about.alongside(transaction, about.id);
    return endpoint;
  });
}

/** What waits is canceled after the change is committed: places in the queue are locked before endpoints, never after. */
async function closeEndpoint(
  db: Db,
  owner: OrganizationId,
  { now, ...about }: Change & { now: Date },
): Promise<EndpointRow | null> {
  const { id } = about;
  const endpoint = await changeEndpoint(db, owner, about);
  if (endpoint) await cancelForbidden(db, { now, plans: PLANS_WITH_WEBHOOKS, limit: CANCEL_BATCH, endpointId: id });
  return endpoint;
}

/** The new secret is shown this once; for a day the old one signs too. */
export async function rotateSecret(
  deps: EndpointDeps,
  owner: OrganizationId,
  id: EndpointId,
  alongside = nothingElse,
): Promise<string | null> {
  const secret = makeSigningSecret(deps.random);
  const now = deps.clock.now();
  const isReplaced = await withinTransaction(deps.db, async (transaction) => {
    const isFound = await replaceSecret(transaction, owner, {
      id,
      secret: deps.webhooks.secretBox.seal(id, secret),
      hint: secret.slice(-HINT_LENGTH),
      now,
      previousExpiresAt: new Date(now.getTime() + SIGNING_SECRET_OVERLAP_HOURS * HOUR_MS),
    });
    if (isFound) await alongside(transaction, id);
    return isFound;
  });
  return isReplaced ? secret : null;
}

/** Queues an `endpoint.test` event for this endpoint alone: one attempt, shown in the log, without effect on its health. */
export async function sendTestEvent(
  deps: EndpointDeps & Pick<Deps, "log">,
  owner: { id: OrganizationId; name: string; plan: Plan },
  endpointId: EndpointId,
): Promise<{ kind: "queued"; deliveryId: DeliveryId } | Refusal> {
  if (!planIncludes(owner.plan, "webhooks")) return { kind: "plan_required" };
  const endpoint = await findEndpoint(deps.db, owner.id, endpointId);
  if (!endpoint) return { kind: "not_found" };
  if (endpoint.status === "disabled") return { kind: "disabled" };

  const now = deps.clock.now();
  const id = randomId<WebhookEventId>(deps.random, WEBHOOK_EVENT_ID);
  const deliveryId = randomUuid(deps.random) as DeliveryId;
  const event: EndpointTestEvent = {
    id,
    type: "endpoint.test",
    created: now.toISOString(),
    apiVersion: WEBHOOK_API_VERSION,
    data: { endpoint: { id: endpointId }, business: { id: owner.id, name: owner.name } },
  };
  await insertEvent(deps.db, owner.id, {
    event: { id, type: event.type, reference: null, body: Buffer.from(JSON.stringify(event)), now },
    deliveries: [{ id: deliveryId, endpointId, card: toCard(endpoint.kind, event), isEnabled: true }],
  });
  await wakeWorkers(deps);
  return { kind: "queued", deliveryId };
}
