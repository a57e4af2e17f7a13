import type { AuditAction } from "#contract/app/audit.ts";
import { type AppEndpoint, ENDPOINT_DESCRIPTION_LENGTH_MAX, type EndpointChange } from "#contract/app/endpoints.ts";
import { roleIncludes } from "#contract/app/role.ts";
import { DAY_MS } from "#contract/durations.ts";
import { ENDPOINT_ID, type EndpointId, parseEndpointId } from "#contract/ids.ts";
import {
  ENDPOINT_PERIODS,
  ENDPOINT_TESTS_PER_MINUTE_MAX,
  SECRET_OVERLAP_HOURS_DEFAULT,
} from "#contract/webhooks/endpoint.ts";
import type { Member, Routes } from "../../accounts/accounts.ts";
import { requireScope } from "../../api-keys/api-keys.ts";
import { type Audit, type AuditOf, auditBy } from "../../audit/audit.ts";
import { makeOnce } from "../../db/statements/make-once.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, FieldsError, notFound } from "../../http/errors/api-error.ts";
import { checkLine, requireFields } from "../../http/errors/check-fields.ts";
import { chooseId } from "../../http/idempotency-key.ts";
import { sliceList } from "../../http/paging.ts";
import { badParameter, readParameter, requireKnown } from "../../http/parameters.ts";
import { requireUnchanged } from "../../http/require-unchanged.ts";
import { assert } from "../../lib/assert.ts";
import { describeCap, findOrganization, requireFeature } from "../../organizations/organizations.ts";
import { countRecentAttempts, listNotices } from "../health/queries.ts";
import { retryAll } from "../log/resend.ts";
import { readStatistics } from "../log/statistics.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import {
  addEndpoint,
  deleteEndpoint,
  type EndpointEdit,
  editEndpoint,
  type NamedEndpoint,
  type Refusal,
  rotateSecret,
} from "./endpoints.ts";
import { type EndpointRow, findEndpoint, listEndpoints } from "./queries.ts";
import { sendTestEvent } from "./send-test-event.ts";
import { toAppEndpoint, toEndpointName } from "./to-app-endpoint.ts";
import { tryFilters } from "./try-filters.ts";

type RouteDeps = Pick<Deps, "db" | "clock" | "random" | "config" | "log"> & { readonly webhooks: WebhookDeps };

/** Newest notices shown per endpoint. */
const NOTICES_SHOWN = 5;

export function endpointAppRoutes(routes: Routes, deps: RouteDeps): void {
  const audited = toAudited(deps);

  routes.add("listEndpoints", async ({ member, query }) => {
    const rows = await listEndpoints(deps.db, member.organizationId);
    return sliceList(query, await toShown(deps, member, { rows }));
  });

  routes.add("addEndpoint", async ({ member, body, request }) => {
    const { url, kind, description = "", ...settings } = body;
    const owner = member.organizationId;
    const id = chooseId<EndpointId>(deps, request, { owner, form: ENDPOINT_ID });
    const wanted = { id, url, kind, description: checkDescription(description), settings };
    if (await findEndpoint(deps.db, owner, id)) throw addedBefore();
    const outcome = await makeOnce(() => addEndpoint(deps, owner, wanted, audited(member, "endpoint.added")));
    if (outcome === null) throw addedBefore();
    if (outcome.kind !== "added") throw toApiError(outcome);
    const endpoint = await readEndpoint(deps, member, id);
    return { endpoint, secret: outcome.secret, sameUrlAs: outcome.sameUrlAs };
  });
  changeRoutes(routes, deps);
  actionRoutes(routes, deps);
  retryRoutes(routes, deps);
}

function changeRoutes(routes: Routes, deps: RouteDeps): void {
  const audited = toAudited(deps);

  routes.add("changeEndpoint", async ({ member, params, body }) => {
    const { id } = await requireEndpoint(deps, member, params.endpoint);
    const { was: _, ...change } = body;
    if (!onlyTurnsOff(change)) requireFeature(member.plan, "webhooks");
    const { url, description, isEnabled, ...settings } = change;
    // The address decides where customers' data is sent.
    if (url !== undefined && member.key) requireScope(member.key, ["bookings"]);
    const detail = describeChange(change);
    if (Object.keys(detail).length > 0) {
      const wanted: EndpointEdit = {
        ...(url === undefined ? {} : { url }),
        ...(description === undefined ? {} : { description: checkDescription(description) }),
        ...(isEnabled === undefined ? {} : { isEnabled }),
        settings,
        id,
        check: (before) => {
          const now = deps.clock.now();
          // Without headers, whose values are never shown.
          requireUnchanged(toAppEndpoint(before, { recent: undefined, notices: [], seesUrl: true, now }), body);
        },
      };
      const writeAudit = audited(member, "endpoint.changed", detail);
      const outcome = await editEndpoint(deps, member.organizationId, wanted, writeAudit);
      if (outcome.kind !== "edited") throw toApiError(outcome);
    }
    return await readEndpoint(deps, member, id);
  });

  routes.add("deleteEndpoint", async ({ member, params }) => {
    const { id } = await requireEndpoint(deps, member, params.endpoint);
    const isDeleted = await deleteEndpoint(deps, member.organizationId, id, audited(member, "endpoint.removed"));
    if (!isDeleted) throw notFound("Endpoint");
    return null;
  });
}

function actionRoutes(routes: Routes, deps: RouteDeps): void {
  const audited = toAudited(deps);

  routes.add("tryFilters", async ({ member, body }) => {
    const outcome = await tryFilters(deps.db, member.organizationId, body);
    if (outcome.kind !== "tried") throw toApiError(outcome);
    return outcome.trial;
  });

  routes.add(
    "testEndpoint",
    async ({ member, params }) => {
      const { id } = await requireEndpoint(deps, member, params.endpoint);
      const organization = await findOrganization(deps.db, member.organizationId);
      assert(organization, "a member's organization exists");
      const outcome = await sendTestEvent(deps, organization, id, (transaction, endpoint, delivery) =>
        audited(member, "endpoint.tested", { delivery })(transaction, endpoint),
      );
      if (outcome.kind !== "queued") throw toApiError(outcome);
      return { deliveryId: outcome.deliveryId };
    },
    async (_, { detail }) => ({ deliveryId: String(detail["delivery"]) }),
  );

  routes.add(
    "rotateSecret",
    async ({ member, params, body }) => {
      const { id } = await requireEndpoint(deps, member, params.endpoint);
      const { overlapHours = SECRET_OVERLAP_HOURS_DEFAULT } = body;
      const writeAudit = audited(member, "endpoint.secret_rotated", {
        overlap: overlapHours === 0 ? "none" : `${overlapHours} h`,
      });
      const outcome = await rotateSecret(deps, member.organizationId, { id, overlapHours }, writeAudit);
      if (outcome.kind !== "rotated") throw toApiError(outcome);
      return { secret: outcome.secret, previousSecretExpiresAt: outcome.previousExpiresAt?.toISOString() ?? null };
    },
    async () => {
      throw rotatedBefore();
    },
  );
}

function retryRoutes(routes: Routes, deps: RouteDeps): void {
  const audited = toAudited(deps);

  routes.add(
    "retryEndpoint",
    async ({ member, params }) => {
      const { id } = await requireEndpoint(deps, member, params.endpoint);
      const outcome = await retryAll(deps, member.organizationId, id, (transaction, endpoint, count) =>
        audited(member, "endpoint.retried", { deliveries: count })(transaction, endpoint),
      );
      if (outcome.kind === "not_found") throw notFound("Endpoint");
      if (outcome.kind !== "retried") throw toApiError(outcome);
      return { count: outcome.count };
    },
    async (_, { detail }) => ({ count: Number(detail["deliveries"]) }),
  );

  routes.add("getStatistics", async ({ member, params, query }) => {
    const { id } = await requireEndpoint(deps, member, params.endpoint);
    requireKnown(query, ["period"]);
    const asked = readParameter(query, "period") ?? "24h";
    const period = ENDPOINT_PERIODS.find((each) => each === asked);
    if (!period) throw badParameter("period", `must be one of ${ENDPOINT_PERIODS.join(", ")}`);
    return await readStatistics(deps, member.organizationId, { endpointId: id, period });
  });
}

function toAudited(deps: RouteDeps) {
  return (member: Member, action: AuditAction, detail: Record<string, string | number> = {}) =>
    auditEndpoint(auditBy(deps, member, deps.clock.now()), action, detail);
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
  if (!endpoint) throw notFound("Endpoint");
  return endpoint;
}

async function requireEndpoint(deps: Pick<Deps, "db">, member: Member, text: string): Promise<EndpointRow> {
  const id = parseEndpointId(text);
  const endpoint = id && (await findEndpoint(deps.db, member.organizationId, id));
  if (!endpoint) throw notFound("Endpoint");
  return endpoint;
}

/** Even an organization whose plan no longer includes webhooks may turn its endpoints off. */
function onlyTurnsOff({ isEnabled, ...others }: Omit<EndpointChange, "was">): boolean {
  return isEnabled === false && Object.keys(others).length === 0;
}

/** The audit detail of a change; empty when nothing changes. */
function describeChange({ isEnabled, ...fields }: Omit<EndpointChange, "was">): Record<string, string> {
  const changed = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
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
      return notFound("Endpoint");
    case "url_refused":
      return new FieldsError({ url: refusal.reason });
    case "invalid":
      return new FieldsError(refusal.fields);
    case "disabled":
      return new ApiError("endpoint_disabled", "This endpoint is off. Turn it on first.");
    case "too_many":
      return new ApiError("conflict", describeCap("endpoints", refusal.most));
    case "no_secret":
      return new ApiError("conflict", "Teams and Slack endpoints have no signing secret.");
    case "too_many_tests": {
      const sentence = `You can send ${ENDPOINT_TESTS_PER_MINUTE_MAX} test events per minute. Try again in a minute.`;
      return new ApiError("rate_limited", sentence, { "retry-after": "60" });
    }
    default:
      return refusal satisfies never;
  }
}

/** Repeating the first response would show the signing secret a second time. */
function addedBefore(): ApiError {
  const sentence = "Your first attempt already added this endpoint. Rotate its secret to get a new one.";
  return new ApiError("conflict", sentence);
}

/** Rotating again would end the secret that the receiver has, and repeating the response would show the new one twice. */
function rotatedBefore(): ApiError {
  return new ApiError("conflict", "Your first attempt already rotated this secret. Rotate it again to get a new one.");
}

/** Audits a change to an endpoint under the endpoint's current name. */
export function auditEndpoint(
  audit: Audit,
  action: AuditAction,
  detail: Record<string, string | number> = {},
): AuditOf<NamedEndpoint> {
  return (transaction, endpoint, before = endpoint) =>
    audit(transaction, {
      action,
      target: endpoint.id,
      name: toEndpointName(endpoint),
      formerName: toEndpointName(before),
      detail,
    });
}
