import type { FastifyReply, FastifyRequest } from "fastify";
import { MINUTE_MS } from "#contract/durations.ts";
import type { ApiKeyId, OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/api-error.ts";
import { RateLimiter, rateLimited } from "../http/rate-limit.ts";
import { assert } from "../lib/assert.ts";
import { requireFeature } from "../plans/gate.ts";
import { findKeyHolder, recordKeyUse } from "./queries.ts";
import { hashApiKey, isApiKey } from "./token.ts";

/** The holder of the request's key. */
type Caller = { keyId: ApiKeyId; organizationId: OrganizationId; plan: Plan };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the bearer guard; only the read API's routes have it. */
    caller: Caller | null;
  }
}

/** A key's last use is written at most this often, so that reads don't become writes. */
const LAST_USED_PRECISION_MS = MINUTE_MS;

/** Guard of the read API: key (401), then plan (403), then the key's rate limit (429). */
export function bearerAuth(deps: Pick<Deps, "db" | "clock" | "config" | "log">) {
  const perMinute = deps.config.rateLimitApiPerMinute;
  const limiter = perMinute > 0 ? new RateLimiter({ perMinute }) : null;

  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const now = deps.clock.now();
    const caller = await identifyCaller(deps, onlyAuthorization(request), now);
    requireFeature(caller.plan, "readApi");
    if (limiter) {
      const verdict = limiter.take(caller.keyId, now);
      reply.headers(limiter.headers(verdict));
      if (!verdict.isAllowed)
        throw rateLimited(verdict, `This key may make ${perMinute} requests per minute. Wait before sending more.`);
    }
    request.caller = caller;
  };
}

export function callerOf(request: FastifyRequest): Caller {
  assert(request.caller, "the route is behind the bearer guard");
  return request.caller;
}

async function identifyCaller(deps: Pick<Deps, "db" | "log">, header: string | null, now: Date): Promise<Caller> {
  const key = parseBearer(header);
  if (key === null)
    throw new ApiError("unauthorized", "Send your API key in the header `Authorization: Bearer <API_KEY>`.", {
      "www-authenticate": 'Bearer realm="api"',
    });
  const holder = isApiKey(key) ? await findKeyHolder(deps.db, hashApiKey(key), now) : null;
  if (!holder)
    throw new ApiError("unauthorized", "This API key is unknown or revoked.", {
      "www-authenticate": 'Bearer realm="api", error="invalid_token"',
    });

  const unlessUsedAfter = new Date(now.getTime() - LAST_USED_PRECISION_MS);
  if (!holder.last_used_at || holder.last_used_at <= unlessUsedAfter) {
    const use = { id: holder.id, usedAt: now, unlessUsedAfter };
    // Bookkeeping only: a failed write must not fail the read.
    await recordKeyUse(deps.db, holder.organization_id, use).catch((error: unknown) =>
      deps.log.warn("api_key.use_not_recorded", { organizationId: holder.organization_id, error }),
    );
  }
  return { keyId: holder.id, organizationId: holder.organization_id, plan: holder.plan };
}

/** Null if the header is missing or was sent twice: Node keeps the first, but a proxy in front of us may use the last. */
function onlyAuthorization(request: FastifyRequest): string | null {
  const names = request.raw.rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === "authorization");
  return names.length === 1 ? (request.headers.authorization ?? null) : null;
}

/** The scheme in any letter case, then exactly one token. */
function parseBearer(header: string | null): string | null {
  return /^bearer +([^\s,]+) *$/i.exec(header ?? "")?.[1] ?? null;
}
