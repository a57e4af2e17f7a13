import type { FastifyInstance } from "fastify";
import { QueuedDelivery } from "#contract/app/deliveries.ts";
import {
  AddedEndpoint,
  AppEndpoint,
  AppEndpointList,
  ENDPOINT_DESCRIPTION_LENGTH_MAX,
  EndpointChange,
  NewEndpoint,
  RedeliverFailedAnswer,
  RedeliverFailedRequest,
  RotatedSecret,
} from "#contract/app/endpoints.ts";
import { roleIncludes } from "#contract/app/role.ts";
import { SIGNING_SECRET_OVERLAP_HOURS } from "#contract/endpoint.ts";
import { type EndpointId, parseEndpointId } from "#contract/ids.ts";
import { type Member, memberOf } from "../accounts/member-auth.ts";
import { auditBy } from "../audit/audit-by.ts";
import type { Deps } from "../deps.ts";
import { ApiError, FieldsError } from "../http/api-error.ts";
import { bodyReader, FormCheck } from "../http/body.ts";
import { requireUnchanged } from "../http/require-unchanged.ts";
import { assert } from "../lib/assert.ts";
import { parseIsoInstant } from "../lib/iso-instant.ts";
import { findOrganization } from "../organizations/queries.ts";
import { type EndpointRow, findEndpoint, listEndpoints, listNotices } from "./endpoint-queries.ts";
import {
  type Alongside,
  addEndpoint,
  disableEndpoint,
  editEndpoint,
  enableEndpoint,
  type Refusal,
  removeEndpoint,
  rotateSecret,
  sendTestEvent,
} from "./endpoints.ts";
import { countRecentAttempts } from "./health-queries.ts";
import { redeliverFailed } from "./redeliver.ts";
import { describeRefusal, REDELIVER_REFUSALS } from "./refusal-texts.ts";
import { toShownUrl } from "./shown-url.ts";
import { toAppEndpoint } from "./to-app-endpoint.ts";

type RouteDeps = Pick<Deps, "db" | "clock" | "random" | "webhooks" | "log">;
type WithEndpoint = { Params: { endpoint: string } };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The latest of each endpoint. */
const NOTICES_SHOWN = 5;

export function endpointAppRoutes(api: FastifyInstance, deps: RouteDeps): void {
  const readNewEndpoint = bodyReader(NewEndpoint);
  const readEndpointChange = bodyReader(EndpointChange);
  const readRedeliverFailed = bodyReader(RedeliverFailedRequest);
  const audited = (member: Member, action: Parameters<ReturnType<typeof auditBy>>[1]["action"]): Alongside => {
    const audit = auditBy(member, deps.clock.now());
    return (transaction, id) => audit(transaction, { action, target: id });
  };

  api.get("/endpoints", { schema: { response: { 200: AppEndpointList } } }, async (request) => {
    return { data: await readEndpoints(deps, memberOf(request)) };
  });

  api.post("/endpoints", { schema: { response: { 201: AddedEndpoint } } }, async (request, reply) => {
    const member = memberOf(request);
    const { url, kind, description = "" } = readNewEndpoint(request);
    const wanted = { url, kind, description: checkDescription(description) };
    const owner = { id: member.organizationId, plan: member.plan };
    const outcome = await addEndpoint(deps, owner, wanted, audited(member, "endpoint.added"));
    if (outcome.kind !== "added") throw toApiError(outcome);
    const endpoint = await readEndpoint(deps, member, outcome.id);
    return reply.code(201).send({ endpoint, secret: outcome.secret });
  });

  api.patch<WithEndpoint>("/endpoints/:endpoint", { schema: { response: { 200: AppEndpoint } } }, async (request) => {
    const member = memberOf(request);
    const owner = member.organizationId;
    const id = await requireEndpoint(deps, member, request.params.endpoint);
    const { url, description, isEnabled, was } = readEndpointChange(request);
    const alongside = audited(member, "endpoint.changed");
    if (url !== undefined || description !== undefined) {
      const wanted = {
        id,
        ...(url === undefined ? {} : { url }),
        ...(description === undefined ? {} : { description: checkDescription(description) }),
        check: (before: EndpointRow) =>
          requireUnchanged({ url: toShownUrl(before), description: before.description }, was),
      };
      const outcome = await editEndpoint(deps, owner, wanted, alongside);
      if (outcome.kind !== "edited") throw toApiError(outcome);
    }
    if (isEnabled === true) await enableEndpoint(deps, owner, id, alongside);
    if (isEnabled === false) await disableEndpoint(deps, owner, id, alongside);
    return await readEndpoint(deps, member, id);
  });

  api.delete<WithEndpoint>("/endpoints/:endpoint", async (request, reply) => {
    const member = memberOf(request);
    const id = await requireEndpoint(deps, member, request.params.endpoint);
    const isRemoved = await removeEndpoint(deps, member.organizationId, id, audited(member, "endpoint.removed"));
    if (!isRemoved) throw noSuchEndpoint();
    return reply.code(204).send();
  });

  api.post<WithEndpoint>(
    "/endpoints/:endpoint/test",
    { schema: { response: { 202: QueuedDelivery } } },
    async (request, reply) => {
      const member = memberOf(request);
      const id = await requireEndpoint(deps, member, request.params.endpoint);
      const organization = await findOrganization(deps.db, member.organizationId);
      assert(organization, "a member's organization exists");
      const deliveryId = await deps.db.transaction().execute(async (transaction) => {
        const outcome = await sendTestEvent({ ...deps, db: transaction }, organization, id);
        if (outcome.kind !== "queued") throw toApiError(outcome);
        await audited(member, "endpoint.tested")(transaction, id);
        return outcome.deliveryId;
      });
      return reply.code(202).send({ deliveryId });
    },
  );

  api.post<WithEndpoint>(
    "/endpoints/:endpoint/rotate-secret",
    { schema: { response: { 200: RotatedSecret } } },
    async (request) => {
      const member = memberOf(request);
      const id = await requireEndpoint(deps, member, request.params.endpoint);
      const secret = await rotateSecret(deps, member.organizationId, id, audited(member, "endpoint.secret_rotated"));
      if (secret === null) throw noSuchEndpoint();
      const expiresAt = new Date(deps.clock.now().getTime() + SIGNING_SECRET_OVERLAP_HOURS * HOUR_MS);
      return { secret, previousSecretExpiresAt: expiresAt.toISOString() };
    },
  );

  api.post<WithEndpoint>(
    "/endpoints/:endpoint/redeliver-failed",
    { schema: { response: { 200: RedeliverFailedAnswer } } },
    async (request) => {
      const member = memberOf(request);
      const endpointId = await requireEndpoint(deps, member, request.params.endpoint);
      const since = parseIsoInstant(readRedeliverFailed(request).since, "down");
      if (!since) throw new FieldsError({ since: "This must be an ISO 8601 date." });
      const owner = { id: member.organizationId, plan: member.plan };
      const outcome = await redeliverFailed(deps, owner, { endpointId, since });
      if (outcome.kind === "not_found") throw noSuchEndpoint();
      if (outcome.kind !== "queued") throw new ApiError("conflict", REDELIVER_REFUSALS[outcome.kind]);
      // Queued in batches, each committed by itself, so this is written when all are.
      const detail = { deliveries: outcome.count, since: since.toISOString() };
      const audit = auditBy(member, deps.clock.now());
      await audit(deps.db, { action: "delivery.redelivered", target: endpointId, detail });
      return { count: outcome.count };
    },
  );
}

async function readEndpoints(deps: RouteDeps, member: Member): Promise<AppEndpoint[]> {
  const owner = member.organizationId;
  const since = new Date(deps.clock.now().getTime() - DAY_MS);
  const recent = new Map((await countRecentAttempts(deps.db, owner, since)).map((each) => [each.endpoint_id, each]));
  const seesUrl = roleIncludes(member.role, "member");
  const endpoints: AppEndpoint[] = [];
  for (const row of await listEndpoints(deps.db, owner)) {
    const notices = await listNotices(deps.db, owner, { endpointId: row.id, limit: NOTICES_SHOWN });
    endpoints.push(toAppEndpoint(row, { recent: recent.get(row.id), notices, seesUrl }));
  }
  return endpoints;
}

async function readEndpoint(deps: RouteDeps, member: Member, id: EndpointId): Promise<AppEndpoint> {
  const endpoint = (await readEndpoints(deps, member)).find((each) => each.id === id);
  if (!endpoint) throw noSuchEndpoint();
  return endpoint;
}

async function requireEndpoint(deps: Pick<Deps, "db">, member: Member, text: string): Promise<EndpointId> {
  const id = parseEndpointId(text);
  const endpoint = id && (await findEndpoint(deps.db, member.organizationId, id));
  if (!endpoint) throw noSuchEndpoint();
  return endpoint.id;
}

function checkDescription(typed: string): string {
  const form = new FormCheck();
  const text = form.line("description", typed, { lengthMax: ENDPOINT_DESCRIPTION_LENGTH_MAX, mayBeEmpty: true });
  form.done();
  return text;
}

function toApiError(refusal: Refusal): ApiError {
  switch (refusal.kind) {
    case "not_found":
      return noSuchEndpoint();
    case "plan_required":
      return new ApiError("plan_required", describeRefusal(refusal));
    case "url_refused":
      return new FieldsError({ url: describeRefusal(refusal) });
    case "too_many":
    case "disabled":
      return new ApiError("conflict", describeRefusal(refusal));
    default:
      return refusal satisfies never;
  }
}

function noSuchEndpoint(): ApiError {
  return new ApiError("not_found", "There is no such endpoint.");
}
