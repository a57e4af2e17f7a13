import type { FastifyInstance } from "fastify";
import type { AuditAction } from "#contract/app/audit.ts";
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
import { DAY_MS } from "#contract/durations.ts";
import { ENDPOINT_ID, type EndpointId, parseEndpointId } from "#contract/ids.ts";
import { type Member, memberOf } from "../../accounts/auth/member-auth.ts";
import { auditBy } from "../../audit/audit-by.ts";
import { makeOnce } from "../../db/make-once.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, FieldsError, noSuch } from "../../http/api-error.ts";
import { bodyReader } from "../../http/body.ts";
import { checkLine, requireFields } from "../../http/check-fields.ts";
import { chooseId } from "../../http/idempotency-key.ts";
import { requireUnchanged } from "../../http/require-unchanged.ts";
import { assert } from "../../lib/assert.ts";
import { parseIsoInstant } from "../../lib/iso-instant.ts";
import { findOrganization } from "../../organizations/queries.ts";
import { countRecentAttempts, listNotices } from "../health/queries.ts";
import { redeliverFailed } from "../log/redeliver.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import { auditEndpoint } from "./audit.ts";
import {
  addEndpoint,
  type EndpointEdit,
  editEndpoint,
  type Refusal,
  removeEndpoint,
  rotateSecret,
  sendTestEvent,
} from "./endpoints.ts";
import { type EndpointRow, findEndpoint, listEndpoints } from "./queries.ts";
import { describeRefusal, REDELIVER_REFUSALS } from "./refusal-texts.ts";
import { toAppEndpoint } from "./to-app-endpoint.ts";

type RouteDeps = Pick<Deps, "db" | "clock" | "random" | "log"> & { readonly webhooks: WebhookDeps };
type WithEndpoint = { Params: { endpoint: string } };

/** Newest notices shown per endpoint. */
const NOTICES_SHOWN = 5;

export function endpointAppRoutes(api: FastifyInstance, deps: RouteDeps): void {
  const readNewEndpoint = bodyReader(NewEndpoint);
  const readEndpointChange = bodyReader(EndpointChange);
  const readRedeliverFailed = bodyReader(RedeliverFailedRequest);
  const audited = (member: Member, action: AuditAction, detail: Record<string, string | number> = {}) =>
    auditEndpoint(auditBy(deps, member, deps.clock.now()), action, detail);

  api.get("/endpoints", { schema: { response: { 200: AppEndpointList } } }, async (request) => {
    const member = memberOf(request);
    const rows = await listEndpoints(deps.db, member.organizationId);
    return { data: await toShown(deps, member, { rows }) };
  });

  api.post("/endpoints", { schema: { response: { 201: AddedEndpoint } } }, async (request, reply) => {
    const member = memberOf(request);
    const { url, kind, description = "" } = readNewEndpoint(request);
    const owner = { id: member.organizationId, plan: member.plan };
    const id = chooseId<EndpointId>(deps, request, { owner: owner.id, form: ENDPOINT_ID });
    const wanted = { id, url, kind, description: checkDescription(description) };
    if (await findEndpoint(deps.db, owner.id, id)) throw addedBefore();
    const outcome = await makeOnce(() => addEndpoint(deps, owner, wanted, audited(member, "endpoint.added")));
    if (outcome === null) throw addedBefore();
    if (outcome.kind !== "added") throw toApiError(outcome);
    const endpoint = await readEndpoint(deps, member, id);
    return reply.code(201).send({ endpoint, secret: outcome.secret });
  });

  api.patch<WithEndpoint>("/endpoints/:endpoint", { schema: { response: { 200: AppEndpoint } } }, async (request) => {
    const member = memberOf(request);
    const { id } = await requireEndpoint(deps, member, request.params.endpoint);
    const { was, ...change } = readEndpointChange(request);
    const detail = describeChange(change);
    if (Object.keys(detail).length > 0) {
      const wanted: EndpointEdit = {
        ...change,
        ...(change.description === undefined ? {} : { description: checkDescription(change.description) }),
        id,
        check: (before) => requireUnchanged({ url: before.url, description: before.description }, was),
      };
      const alongside = audited(member, "endpoint.changed", detail);
      const outcome = await editEndpoint(deps, member.organizationId, wanted, alongside);
      if (outcome.kind !== "edited") throw toApiError(outcome);
    }
    return await readEndpoint(deps, member, id);
  });

  api.delete<WithEndpoint>("/endpoints/:endpoint", async (request, reply) => {
    const member = memberOf(request);
    const { id } = await requireEndpoint(deps, member, request.params.endpoint);
    const isRemoved = await removeEndpoint(deps, member.organizationId, id, audited(member, "endpoint.removed"));
    if (!isRemoved) throw noSuch("endpoint");
    return reply.code(204).send();
  });

  api.post<WithEndpoint>(
    "/endpoints/:endpoint/test",
    { schema: { response: { 202: QueuedDelivery } } },
    async (request, reply) => {
      const member = memberOf(request);
      const { id } = await requireEndpoint(deps, member, request.params.endpoint);
      const organization = await findOrganization(deps.db, member.organizationId);
      assert(organization, "a member's organization exists");
      const outcome = await sendTestEvent(deps, organization, id, audited(member, "endpoint.tested"));
      if (outcome.kind !== "queued") throw toApiError(outcome);
      return reply.code(202).send({ deliveryId: outcome.deliveryId });
    },
  );

  api.post<WithEndpoint>(
    "/endpoints/:endpoint/rotate-secret",
    { schema: { response: { 200: RotatedSecret } } },
    async (request) => {
      const member = memberOf(request);
      const { id } = await requireEndpoint(deps, member, request.params.endpoint);
      const rotated = await rotateSecret(deps, member.organizationId, id, audited(member, "endpoint.secret_rotated"));
      if (rotated === null) throw noSuch("endpoint");
      return { secret: rotated.secret, previousSecretExpiresAt: rotated.previousExpiresAt.toISOString() };
    },
  );

  api.post<WithEndpoint>(
    "/endpoints/:endpoint/redeliver-failed",
    { schema: { response: { 200: RedeliverFailedAnswer } } },
    async (request) => {
      const member = memberOf(request);
      const endpoint = await requireEndpoint(deps, member, request.params.endpoint);
      const body = readRedeliverFailed(request);
      const [since, includeMissed] = [parseIsoInstant(body.since, "down"), body.missed === true];
      if (!since) throw new FieldsError({ since: "This must be an ISO 8601 date." });
      const owner = { id: member.organizationId, plan: member.plan };
      const outcome = await redeliverFailed(deps, owner, { endpointId: endpoint.id, since, includeMissed });
      if (outcome.kind === "not_found") throw noSuch("endpoint");
      if (outcome.kind !== "queued") throw new ApiError("conflict", REDELIVER_REFUSALS[outcome.kind]);
      // Batches are committed one by one; the audit entry follows the last.
      const detail = { deliveries: outcome.count, since: since.toISOString() };
      await audited(member, "delivery.redelivered", detail)(deps.db, endpoint);
      return { count: outcome.count };
    },
  );
}

/** Adds recent attempts and notices; `endpointId` limits both to one endpoint. */
async function toShown(
  deps: RouteDeps,
  member: Member,
  { rows, ...of }: { rows: readonly EndpointRow[]; endpointId?: EndpointId },
): Promise<AppEndpoint[]> {
  const owner = member.organizationId;
  const now = deps.clock.now();
  const since = new Date(now.getTime() - DAY_MS);
  const recent = await countRecentAttempts(deps.db, owner, { ...of, since });
  const notices = await listNotices(deps.db, owner, { ...of, limitEach: NOTICES_SHOWN });
  return rows.map((row) =>
    toAppEndpoint(row, {
      recent: recent.find(({ endpoint_id }) => endpoint_id === row.id),
      notices: notices.filter(({ endpoint_id }) => endpoint_id === row.id),
      seesUrl: roleIncludes(member.role, "member"),
      now,
    }),
  );
}

async function readEndpoint(deps: RouteDeps, member: Member, id: EndpointId): Promise<AppEndpoint> {
  const row = await findEndpoint(deps.db, member.organizationId, id);
  const [endpoint] = row ? await toShown(deps, member, { rows: [row], endpointId: id }) : [];
  if (!endpoint) throw noSuch("endpoint");
  return endpoint;
}

async function requireEndpoint(deps: Pick<Deps, "db">, member: Member, text: string): Promise<EndpointRow> {
  const id = parseEndpointId(text);
  const endpoint = id && (await findEndpoint(deps.db, member.organizationId, id));
  if (!endpoint) throw noSuch("endpoint");
  return endpoint;
}

/** The audit detail of a change; empty when nothing changes. */
function describeChange({ url, description, isEnabled }: Omit<EndpointChange, "was">): Record<string, string> {
  const changed = Object.entries({ url, description }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  return {
    ...(changed.length === 0 ? {} : { changed: changed.join(", ") }),
    ...(isEnabled === undefined ? {} : { status: isEnabled ? "enabled" : "disabled" }),
  };
}

function checkDescription(typed: string): string {
  const rule = { lengthMax: ENDPOINT_DESCRIPTION_LENGTH_MAX, mayBeEmpty: true } as const;
  return requireFields({ description: checkLine(typed, rule) }).description;
}

function toApiError(refusal: Refusal): ApiError {
  switch (refusal.kind) {
    case "not_found":
      return noSuch("endpoint");
    case "plan_required":
      return new ApiError("plan_required", describeRefusal(refusal));
    case "url_refused":
      return new FieldsError({ url: describeRefusal(refusal) });
    case "too_many":
    case "disabled":
      return new ApiError("conflict", describeRefusal(refusal));
    case "too_many_tests":
      return new ApiError("rate_limited", describeRefusal(refusal), { "retry-after": "60" });
    default:
      return refusal satisfies never;
  }
}

/** Repeating the first answer would show the signing secret a second time. */
function addedBefore(): ApiError {
  const sentence = "Your first attempt already added this endpoint. To get a new signing secret, rotate it.";
  return new ApiError("conflict", sentence);
}
