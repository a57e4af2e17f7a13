import type { AuditAction } from "#contract/app/audit.ts";
import type { AppDeliveryDetail } from "#contract/app/deliveries.ts";
import {
  type DeliveryId,
  type OrganizationId,
  parseDeliveryId,
  parseEndpointId,
  parseRedeliveryId,
  parseReference,
  parseWebhookEventId,
  parseWidgetId,
} from "#contract/ids.ts";
import { ATTEMPT_ERROR_CODES, DELIVERY_STATES } from "#contract/webhooks/delivery.ts";
import { type Member, type Routes, seesCustomers } from "../../accounts/accounts.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { readPage, readRowCursor, toRowCursor } from "../../http/paging.ts";
import {
  badParameter,
  type Query,
  readInstant,
  readPageSize,
  readParameter,
  requireKnown,
} from "../../http/parameters.ts";
import { toEndpointName } from "../endpoints/to-app-endpoint.ts";
import { type DeliveryLogFilter, findDeliveryBody, listAttempts, listDeliveries, toLogKeptSince } from "./queries.ts";
import { redeliver, retryDelivery } from "./resend.ts";
import type { Redeliverable } from "./resend-queries.ts";
import { type DeliveryReader, readEndpointNames, toAppAttempt, toAppDelivery } from "./to-app-delivery.ts";

type DeliveryDeps = Pick<Deps, "db" | "clock" | "random" | "log" | "config">;

/** More than one delivery's manual redeliveries can add up to. */
const ATTEMPTS_SHOWN_MAX = 200;

export function deliveryAppRoutes(routes: Routes, deps: DeliveryDeps): void {
  // Names the delivery by its booking's reference, which is not personal data, and its endpoint.
  const audited = (member: Member, action: AuditAction) => (transaction: Db, delivery: Redeliverable) => {
    const { id, reference, endpoint_url: url, endpoint_description: description } = delivery;
    const entry = { action, target: id, name: reference ?? "Test event" };
    const detail = { endpoint: toEndpointName({ url, description }) };
    return auditBy(deps, member, deps.clock.now())(transaction, { ...entry, detail });
  };

  routes.add("listDeliveries", async ({ member, query }) => {
    const limit = readPageSize(query, "limit");
    const keptSince = toLogKeptSince(deps.clock.now());
    const reader = await readerOf(deps.db, member);
    const filter = readLogFilter(query, reader);
    const { rows, nextCursor } = await readPage({
      limit,
      read: (most) => listDeliveries(deps.db, member.organizationId, { ...filter, keptSince, limit: most }),
      // Deliveries of one event share a time, so the cursor needs the id too.
      toCursor: (last) => toRowCursor({ at: last.created_at, id: last.id }),
    });
    return { data: rows.map((row) => toAppDelivery(row, reader)), nextCursor };
  });

  routes.add("getDelivery", async ({ member, params }) => {
    return await readDelivery(deps, member, requireDeliveryId(params.delivery));
  });

  routes.add(
    "redeliver",
    async ({ member, params }) => {
      const id = requireDeliveryId(params.delivery);
      const outcome = await redeliver(deps, member.organizationId, id, audited(member, "delivery.redelivered"));
      if (outcome.kind === "not_found") throw notFound("Delivery");
      if (outcome.kind !== "queued") throw new ApiError(outcome.kind, REDELIVER_REFUSALS[outcome.kind]);
      return { deliveryId: id };
    },
    async ({ params }) => ({ deliveryId: params.delivery }),
  );

  routes.add(
    "retryDelivery",
    async ({ member, params }) => {
      const id = requireDeliveryId(params.delivery);
      const outcome = await retryDelivery(deps, member.organizationId, id, audited(member, "delivery.retried"));
      if (outcome.kind === "not_found") throw notFound("Delivery");
      if (outcome.kind === "retried") return { deliveryId: id };
      const [code, sentence] = RETRY_REFUSALS[outcome.kind];
      throw new ApiError(code, sentence);
    },
    async ({ params }) => ({ deliveryId: params.delivery }),
  );
}

const ENDPOINT_OFF = "This delivery's endpoint is off. Turn it on first.";

const REDELIVER_REFUSALS = {
  already_queued: "This delivery is already queued.",
  endpoint_removed: "This delivery's endpoint was deleted.",
  endpoint_disabled: ENDPOINT_OFF,
  payload_erased: "This delivery's booking was erased, so there is nothing left to send.",
} as const;

const RETRY_REFUSALS = {
  not_waiting: ["conflict", "This delivery is finished. Redeliver it instead."],
  in_flight: ["already_queued", "This delivery is being sent right now."],
  disabled: ["endpoint_disabled", ENDPOINT_OFF],
} as const;

async function readDelivery(
  { db, clock, config }: DeliveryDeps,
  member: Member,
  deliveryId: DeliveryId,
): Promise<AppDeliveryDetail> {
  const owner = member.organizationId;
  const keptSince = toLogKeptSince(clock.now());
  const [row] = await listDeliveries(db, owner, { deliveryId, keptSince, limit: 1 });
  if (!row) throw notFound("Delivery");
  const reader = await readerOf(db, member);
  const attempts = await listAttempts(db, owner, { deliveryId, keptSince, limit: ATTEMPTS_SHOWN_MAX });
  const body = reader.seesCustomers ? await findDeliveryBody(db, owner, deliveryId) : null;
  return {
    ...toAppDelivery(row, reader),
    attempts: attempts.map((attempt) => toAppAttempt(attempt, { ...reader, delivery: row, docsUrl: config.docsUrl })),
    body: body?.toString("utf8") ?? null,
  };
}

async function readerOf(db: Db, member: Member): Promise<DeliveryReader> {
  const owner: OrganizationId = member.organizationId;
  return { seesCustomers: seesCustomers(member), endpoints: await readEndpointNames(db, owner) };
}

type LogQuery = Omit<DeliveryLogFilter, "keptSince" | "limit">;

const LOG_PARAMETERS = [
  ...["search", "endpoint", "widget", "state", "status", "error", "redelivery"],
  ...["from", "to", "limit", "cursor"],
];

function readLogFilter(query: Query, { endpoints, seesCustomers }: DeliveryReader): LogQuery {
  requireKnown(query, LOG_PARAMETERS);
  const [from, to] = [readInstant(query, "from", "down"), readInstant(query, "to", "up")];
  const text = (name: string) => readParameter(query, name);
  const [endpoint, widget, state, status, error] = ["endpoint", "widget", "state", "status", "error"].map(text);
  const [search, redelivery] = [text("search"), text("redelivery")];
  const endpointId = endpoint == null ? null : parseEndpointId(endpoint);
  if (endpoint != null && !(endpointId && endpoints.has(endpointId))) throw notFound("Endpoint");
  const cursor = readRowCursor(query, "cursor");
  return {
    ...(search === null ? {} : readSearch(search, seesCustomers)),
    ...(endpointId ? { endpointId } : {}),
    ...(widget == null ? {} : { widgetId: parseWidgetId(widget) ?? refuse("widget", "must be a widget ID") }),
    ...(state == null ? {} : { state: requireOneOf("state", state, DELIVERY_STATES) }),
    ...(status == null ? {} : { status: requireStatus(status) }),
    ...(error == null ? {} : { error: requireOneOf("error", error, ATTEMPT_ERROR_CODES) }),
    ...(redelivery === null
      ? {}
      : { redeliveryId: parseRedeliveryId(redelivery) ?? refuse("redelivery", "must be a redelivery ID") }),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(cursor ? { cursor } : {}),
  };
}

function requireOneOf<Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  return words.find((each) => each === text) ?? refuse(name, `must be one of ${words.join(", ")}`);
}

function requireStatus(text: string): number {
  return /^[1-9][0-9]{2}$/.test(text) ? Number(text) : refuse("status", "must be an HTTP status");
}

function refuse(name: string, fault: string): never {
  throw badParameter(name, fault);
}

function requireDeliveryId(text: string): DeliveryId {
  const id = parseDeliveryId(text);
  if (id === null) throw notFound("Delivery");
  return id;
}

type Found = Pick<DeliveryLogFilter, "reference" | "eventId" | "deliveryId" | "email">;

/** What somebody typed into the search box of the delivery log. The form of the text says what it is. */
function readSearch(typed: string, seesCustomers: boolean): Found {
  const text = typed.trim();
  const reference = parseReference(text) ?? parseReference(text.toUpperCase());
  if (reference) return { reference };
  const eventId = parseWebhookEventId(text.toLowerCase());
  if (eventId) return { eventId };
  const deliveryId = parseDeliveryId(text.toLowerCase());
  if (deliveryId) return { deliveryId };
  // PostgreSQL refuses NUL, and no address has another control character.
  if (!text.includes("@") || text.length > 320 || /\p{Cc}/u.test(text))
    throw badParameter("search", "must be a reference, an event ID, a delivery ID or a customer's email address");
  if (!seesCustomers) throw new ApiError("forbidden", "Viewers can't search by email address.");
  return { email: text };
}
