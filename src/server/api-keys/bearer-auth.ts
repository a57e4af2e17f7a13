import type { FastifyReply, FastifyRequest } from "fastify";
import { MINUTE_MS } from "#contract/durations.ts";
import type { ApiKeyId } from "#contract/ids.ts";
import type { KeyScope } from "#contract/scopes.ts";
import { DatabaseUnavailable } from "../db/connections/database-unavailable.ts";
import type { Deps } from "../deps.ts";
import { ApiError } from "../http/errors/api-error.ts";
import { RateLimiter, rateLimited } from "../http/limits/rate-limit.ts";
import { assert } from "../lib/assert.ts";
import { Batcher, type BatcherLimits } from "../lib/concurrency/batcher.ts";
import { RecentMap } from "../lib/recent-map.ts";
import { requireFeature } from "../organizations/organizations.ts";
import { isInNetworks } from "./networks.ts";
import { findKeyHolders, type KeyHolder, recordKeyUse } from "./queries.ts";
import { hashApiKey, isApiKey } from "./token.ts";

export type Caller = Omit<KeyHolder, "id"> & { keyId: ApiKeyId };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the bearer guard; only routes under /api/v1 have it. */
    caller: Caller | null;
  }
}

/** A key's last use is written at most this often, so that reads don't become writes. */
const LAST_USED_PRECISION_MS = MINUTE_MS;
const KEYS_REMEMBERED = 10_000;

/**
 * Requests that arrive while keys are looked up share the next statement. Nothing is kept, so a revoked key is refused at once. Several
 * at once, so that a lost connection doesn't stop the others.
 */
const LOOKUP_LIMITS: BatcherLimits = { batchMax: 500, itemsMax: 10_000, atOnce: 4, waitMs: 20_000 };

type GuardDeps = Pick<Deps, "db" | "clock" | "config" | "log">;

/** Guard of everything under /api/v1: key (401), networks (403), plan (403), rate limit (429) with RateLimit headers. */
export function bearerAuth(deps: GuardDeps) {
  const perMinute = deps.config.rateLimitApiPerMinute;
  const limiter = perMinute > 0 ? new RateLimiter({ perMinute }) : null;
  const lookups = new Batcher<Buffer, KeyHolder | null>(LOOKUP_LIMITS, (hashes) =>
    findKeyHolders(deps.db, hashes, deps.clock.now()),
  );
  const notedAtMs = new RecentMap<ApiKeyId, number>(KEYS_REMEMBERED);

  /** Bookkeeping only: a failed write must not fail the read. */
  async function noteUse({ id, organizationId }: KeyHolder, now: Date): Promise<void> {
    const nowMs = now.getTime();
    if (nowMs - (notedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < LAST_USED_PRECISION_MS) return;
    notedAtMs.set(id, nowMs);
    const use = { id, usedAt: now, unlessUsedAfter: new Date(nowMs - LAST_USED_PRECISION_MS) };
    await recordKeyUse(deps.db, organizationId, use).catch((error: unknown) =>
      deps.log.warn("api_key.use_not_recorded", { organizationId, error }),
    );
  }

  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const keyHash = requireKeyHash(request);
    const found = await lookups.submit(keyHash);
    if (found.kind !== "done") throw new DatabaseUnavailable(`The key was not looked up: ${found.kind}.`);
    const holder = found.result;
    if (holder === null) throw unknownKey();
    const now = deps.clock.now();
    const { id: keyId, ...rest } = holder;
    const { networks } = holder;
    if (networks.length > 0 && !isInNetworks(networks, request.ip))
      throw new ApiError("network_not_allowed", "This API key can't be used from your network address.");
    await noteUse(holder, now);
    const verdict = limiter?.take(keyId, now);
    if (limiter && verdict) reply.headers(limiter.headers(verdict));
    requireFeature(holder.plan, "readApi");
    if (verdict && !verdict.isAllowed)
      throw rateLimited(
        verdict,
        `Rate limit exceeded: ${perMinute.toLocaleString("en")} requests per minute for this key. Retry after the number of seconds in Retry-After.`,
      );
    request.caller = { keyId, ...rest };
  };
}

/** Throws 403 unless the key has one of the scopes. */
export function requireScope({ scopes }: Pick<Caller, "scopes">, wanted: readonly KeyScope[]): void {
  if (wanted.some((scope) => scopes.includes(scope))) return;
  throw new ApiError("scope_required", `This API key needs the scope ${wanted.join(" or ")}.`);
}

export function callerOf(request: FastifyRequest): Caller {
  assert(request.caller, "the route is behind the bearer guard");
  return request.caller;
}

/** Throws 401 unless there is exactly one key with a correct checksum. The database decides whether it exists. */
function requireKeyHash(request: FastifyRequest): Buffer {
  const key = parseBearer(onlyAuthorization(request));
  if (key === null)
    throw new ApiError("unauthorized", "Send your API key in the header `Authorization: Bearer <API_KEY>`.", {
      "www-authenticate": 'Bearer realm="api"',
    });
  if (!isApiKey(key)) throw unknownKey();
  return hashApiKey(key);
}

function unknownKey(): ApiError {
  return new ApiError("unauthorized", "This API key is unknown, revoked or expired.", {
    "www-authenticate": 'Bearer realm="api", error="invalid_token"',
  });
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
