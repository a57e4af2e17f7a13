import type { FastifyInstance } from "fastify";
import { AppDeliveryDetail, AppDeliveryPage, QueuedDelivery } from "#contract/app/deliveries.ts";
import { roleIncludes } from "#contract/app/role.ts";
import { DELIVERY_STATES, type DeliveryState } from "#contract/delivery.ts";
import { type DeliveryId, type OrganizationId, parseDeliveryId, parseEndpointId } from "#contract/ids.ts";
import { type Member, memberOf } from "../accounts/member-auth.ts";
import { auditBy } from "../audit/audit-by.ts";
import type { Db } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";
import { badParameter, type Query, readInstant, readPageSize, readParameter } from "../http/parameters.ts";
import { parseIsoInstant } from "../lib/iso-instant.ts";
import { readEndpointNames } from "./booking-deliveries.ts";
import {
  type DeliveryLogFilter,
  findDeliveryBody,
  type LogCursor,
  listAttempts,
  listDeliveries,
} from "./delivery-log.ts";
import { redeliver } from "./redeliver.ts";
import { REDELIVER_REFUSALS } from "./refusal-texts.ts";
import { type DeliveryReader, toAppAttempt, toAppDelivery } from "./to-app-delivery.ts";

type DeliveryDeps = Pick<Deps, "db" | "clock" | "log">;
type WithDelivery = { Params: { delivery: string } };

/** Of one delivery; it takes weeks of asking for redeliveries by hand to get there. */
const ATTEMPTS_SHOWN_MAX = 200;

export function deliveryAppRoutes(api: FastifyInstance, deps: DeliveryDeps): void {
  api.get("/deliveries", { schema: { response: { 200: AppDeliveryPage } } }, async (request) => {
    const member = memberOf(request);
    const query = request.query as Query;
    const limit = readPageSize(query, "limit");
    const filter = readLogFilter(query);
    // One more than the page holds tells whether there is a next page.
    const rows = await listDeliveries(deps.db, member.organizationId, { ...filter, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const last = rows.length > page.length ? page.at(-1) : undefined;
    const reader = await readerOf(deps.db, member);
    return {
      data: page.map((row) => toAppDelivery(row, reader)),
      nextCursor: last ? toCursor({ at: last.created_at, id: last.id }) : null,
    };
  });

  api.get<WithDelivery>(
    "/deliveries/:delivery",
    { schema: { response: { 200: AppDeliveryDetail } } },
    async (request) => {
      const member = memberOf(request);
      return await readDelivery(deps.db, member, requireDeliveryId(request.params.delivery));
    },
  );

  api.post<WithDelivery>(
    "/deliveries/:delivery/redeliver",
    { schema: { response: { 202: QueuedDelivery } } },
    async (request, reply) => {
      const member = memberOf(request);
      const owner = { id: member.organizationId, plan: member.plan };
      const id = requireDeliveryId(request.params.delivery);
      await deps.db.transaction().execute(async (transaction) => {
        const outcome = await redeliver({ ...deps, db: transaction }, owner, id);
        if (outcome.kind === "not_found") throw noSuchDelivery();
        if (outcome.kind === "plan_required") throw new ApiError("plan_required", REDELIVER_REFUSALS.plan_required);
        if (outcome.kind !== "queued") throw new ApiError("conflict", REDELIVER_REFUSALS[outcome.kind]);
        await auditBy(member, deps.clock.now())(transaction, { action: "delivery.redelivered", target: id });
      });
      return reply.code(202).send({ deliveryId: id });
    },
  );
}

async function readDelivery(db: Db, member: Member, id: DeliveryId): Promise<AppDeliveryDetail> {
  const owner = member.organizationId;
  const [row] = await listDeliveries(db, owner, { deliveryId: id, limit: 1 });
  if (!row) throw noSuchDelivery();
  const reader = await readerOf(db, member);
  const attempts = await listAttempts(db, owner, { deliveryId: id, limit: ATTEMPTS_SHOWN_MAX });
  const body = reader.seesCustomers ? await findDeliveryBody(db, owner, id) : null;
  return {
    ...toAppDelivery(row, reader),
    attempts: attempts.map((attempt) => toAppAttempt(attempt, reader)).sort((a, b) => b.number - a.number),
    body: body?.toString("utf8") ?? null,
  };
}

async function readerOf(db: Db, member: Member): Promise<DeliveryReader> {
  const owner: OrganizationId = member.organizationId;
  return { seesCustomers: roleIncludes(member.role, "member"), endpoints: await readEndpointNames(db, owner) };
}

function readLogFilter(query: Query): Omit<DeliveryLogFilter, "limit"> {
  const [from, to] = [readInstant(query, "from", "down"), readInstant(query, "to", "up")];
  const [endpoint, state] = [readParameter(query, "endpoint"), readParameter(query, "state")];
  const endpointId = endpoint === null ? null : parseEndpointId(endpoint);
  if (endpoint !== null && endpointId === null) throw new ApiError("not_found", "There is no such endpoint.");
  const text = readParameter(query, "cursor");
  const cursor = text === null ? null : parseCursor(text);
  if (text !== null && cursor === null) throw badParameter("cursor", "must be the nextCursor of the page before");
  return {
    ...(endpointId ? { endpointId } : {}),
    ...(state === null ? {} : { state: requireState(state) }),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
    ...(cursor ? { cursor } : {}),
  };
}

function requireState(text: string): DeliveryState {
  const state = DELIVERY_STATES.find((each) => each === text);
  if (!state) throw badParameter("state", `must be one of ${DELIVERY_STATES.join(", ")}`);
  return state;
}

/** Deliveries of one event have one time, so the id is needed too. */
function toCursor({ at, id }: LogCursor): string {
  return `${at.toISOString()}_${id}`;
}

function parseCursor(text: string): LogCursor | null {
  const [time = "", id = "", ...rest] = text.split("_");
  const at = parseIsoInstant(time, "up");
  const deliveryId = parseDeliveryId(id);
  return at && deliveryId && rest.length === 0 ? { at, id: deliveryId } : null;
}

function requireDeliveryId(text: string): DeliveryId {
  const id = parseDeliveryId(text);
  if (id === null) throw noSuchDelivery();
  return id;
}

function noSuchDelivery(): ApiError {
  return new ApiError("not_found", "There is no such delivery.");
}
