import type { FastifyReply, FastifyRequest } from "fastify";
import { type MemberRole, roleIncludes } from "#contract/app/role.ts";
import { ORGANIZATION_HEADER } from "#contract/app/routes.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { KeyScope } from "#contract/scopes.ts";
import { requireResponding } from "../../db/home.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import { assert } from "../../lib/assert.ts";
import type { AccountsDeps, Person } from "../accounts-deps.ts";
import { listMemberships, type Membership, recordMembershipUse } from "../queries.ts";
import { requireOwnLink, requireOwnOrigin } from "./origin-check.ts";

/** A person in one of their organizations, or one of its API keys. */
export type Member = {
  /** The key's id, for a key. */
  userId: string;
  /** How lists and the audit log name them: an address, or "API key Board". */
  email: string;
  key?: KeyLimits;
  isOperator?: true;
  organizationId: OrganizationId;
  role: MemberRole;
  plan: Plan;
  /** Null if the organization has not set one. */
  timeZone: string | null;
  /** The id of the audit entry that this request writes, if its Idempotency-Key decides it (route-table.ts). */
  auditId?: string;
};

/** Who uses the command line. The audit log can't tell who that is. */
export const OPERATOR = { userId: "", email: "", role: "owner", isOperator: true } as const;

/** What a key may do at most. It can't create a key that may do more. */
export type KeyLimits = { scopes: readonly KeyScope[]; networks: readonly string[]; expiresAt: Date | null };

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the guards of the dashboard API, null on other routes. */
    person: Person | null;
    member: Member | null;
  }
}

type GuardDeps = Pick<Deps, "db" | "clock" | "config" | "log"> & { readonly accounts: AccountsDeps };

/** `last_used_at` of a membership is written at most once per minute. */
const LAST_USED_PRECISION_MS = MINUTE_MS;

/** Guard for routes that need no organization. Checks the page's origin (403), then the session (401). */
export function personAuth(deps: GuardDeps) {
  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    requireOwnOrigin(deps.config, request);
    request.person = await identifyPerson(deps, request, reply);
  };
}

/**
 * Guard for all other routes under /api/app. Checks the page's origin (403), the session (401), then the organization: the one
 * named by the `x-organization` header or a link's `organization` parameter (404 unless the person is a member), otherwise the
 * one they used last.
 */
export function memberAuth(deps: GuardDeps) {
  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    requireOwnOrigin(deps.config, request);
    requireOwnLink(request);
    const person = await identifyPerson(deps, request, reply);
    const { userId, email } = person;
    const memberships = await listMemberships(deps.db, userId);
    const current = chooseMembership(memberships, request.headers[ORGANIZATION_HEADER] ?? nameInLink(request));
    const { organization_id: organizationId, role, plan, time_zone: timeZone } = current;
    await requireResponding(deps.db, organizationId);
    if (current !== memberships[0]) await recordUse(deps, userId, current);
    request.person = person;
    request.member = { userId, email, organizationId, role, plan, timeZone };
  };
}

/** Throws 403 unless the member's role is this one or includes it. */
export function requireRole(member: Member, role: MemberRole): void {
  if (!roleIncludes(member.role, role))
    throw new ApiError("forbidden", `This requires the ${role} role. Your role is ${member.role}.`);
}

/** Members see customers' data; viewers don't, nor do keys without `bookings`. */
export function seesCustomers({ role, key }: Member): boolean {
  return roleIncludes(role, "member") && (key === undefined || key.scopes.includes("bookings"));
}

export function personOf(request: FastifyRequest): Person {
  assert(request.person, "the route is behind a guard of the dashboard API");
  return request.person;
}

export function memberOf(request: FastifyRequest): Member {
  assert(request.member, "the route is behind the member guard");
  return request.member;
}

async function identifyPerson(deps: GuardDeps, request: FastifyRequest, reply: FastifyReply): Promise<Person> {
  const person = await findPerson(deps, request, reply);
  if (!person) throw notSignedIn();
  return person;
}

/** The person who is signed in, or null. Using a session extends it: better-auth renews its cookie from time to time. */
export async function findPerson(
  { accounts }: Pick<GuardDeps, "accounts">,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Person | null> {
  const { cookie } = request.headers;
  if (cookie === undefined) return null;
  const { person, cookies } = await accounts.auth.readSession(cookie);
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  return person;
}

export function notSignedIn(): ApiError {
  return new ApiError("unauthorized", "Sign in first.");
}

/** A download is a plain link, which cannot send the header. */
function nameInLink({ method, query }: FastifyRequest): string | undefined {
  const { organization } = (query ?? {}) as { organization?: unknown };
  return method === "GET" && typeof organization === "string" ? organization : undefined;
}

function chooseMembership(memberships: readonly Membership[], header: string | string[] | undefined): Membership {
  if (header !== undefined) {
    const named = memberships.find((membership) => membership.organization_id === header);
    if (!named) throw new ApiError("not_found", "This organization doesn't exist, or you're not a member of it.");
    return named;
  }
  const [latest] = memberships;
  if (!latest) throw new ApiError("forbidden", "You're not in an organization yet.");
  return latest;
}

async function recordUse(deps: GuardDeps, userId: string, membership: Membership): Promise<void> {
  const now = deps.clock.now();
  const { last_used_at: lastUsedAt, organization_id: owner } = membership;
  if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < LAST_USED_PRECISION_MS) return;
  // Failing to record the use must not fail the request.
  await recordMembershipUse(deps.db, owner, { userId, usedAt: now }).catch((error: unknown) =>
    deps.log.warn("membership.use_not_recorded", { organizationId: owner, error }),
  );
}
