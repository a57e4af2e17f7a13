import type { FastifyReply, FastifyRequest } from "fastify";
import { type MemberRole, roleIncludes } from "#contract/app/role.ts";
import { ORGANIZATION_HEADER } from "#contract/app/routes.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/api-error.ts";
import { assert } from "../../lib/assert.ts";
import type { AccountsDeps } from "../accounts-deps.ts";
import { listMemberships, type Membership, recordMembershipUse } from "../queries.ts";
import { requireOwnLink, requireOwnOrigin } from "./origin-check.ts";

/** A person who is signed in. */
export type Person = { userId: string; email: string; name: string; sessionId: string; isTwoFactorOn: boolean };

/** That person in one organization. */
export type Member = {
  userId: string;
  email: string;
  organizationId: OrganizationId;
  role: MemberRole;
  plan: Plan;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Set by the guards of the dashboard API; other routes have neither. */
    person: Person | null;
    member: Member | null;
  }
}

type GuardDeps = Pick<Deps, "db" | "clock" | "config" | "log"> & { readonly accounts: AccountsDeps };

/** Which organization of several was used last is written at most once in this time. */
const LAST_USED_PRECISION_MS = MINUTE_MS;

/** Guard of what a person does whether or not they belong to an organization: our own page (403), then sign-in (401). */
export function personAuth(deps: GuardDeps) {
  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    requireOwnOrigin(deps.config, request);
    request.person = await identifyPerson(deps, request, reply);
  };
}

/**
 * Guard of everything else under /api/app: our own page (403), sign-in (401), then the organization: the one that the header
 * `x-organization` names (404 unless they belong to it), or the parameter `organization` of a link, else the one they used last.
 */
export function memberAuth(deps: GuardDeps) {
  return async function authenticate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    requireOwnOrigin(deps.config, request);
    requireOwnLink(request);
    const person = await identifyPerson(deps, request, reply);
    const { userId, email } = person;
    const memberships = await listMemberships(deps.db, userId);
    const current = chooseMembership(memberships, request.headers[ORGANIZATION_HEADER] ?? nameInLink(request));
    const { organization_id: organizationId, role, plan } = current;
    if (current !== memberships[0]) await recordUse(deps, userId, current);
    request.person = person;
    request.member = { userId, email, organizationId, role, plan };
  };
}

/** 403 unless the member has this role or one that includes it. */
export function requireRole(member: Member, role: MemberRole): void {
  if (!roleIncludes(member.role, role))
    throw new ApiError("forbidden", `This needs the ${role} role; yours is ${member.role}.`);
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
  const cookie = request.headers.cookie;
  const session = cookie === undefined ? null : await deps.accounts.auth.readSession(cookie);
  // A session that is used goes on: its cookie is sent anew from time to time, and taken back once it is over.
  if (session && session.cookies.length > 0) reply.header("set-cookie", session.cookies);
  if (!session?.person) throw notSignedIn();
  return session.person;
}

export function notSignedIn(): ApiError {
  return new ApiError("unauthorized", "Please sign in.");
}

/** A download is a link, which carries no header. */
function nameInLink({ method, query }: FastifyRequest): string | undefined {
  const { organization } = (query ?? {}) as { organization?: unknown };
  return method === "GET" && typeof organization === "string" ? organization : undefined;
}

function chooseMembership(memberships: readonly Membership[], header: string | string[] | undefined): Membership {
  if (header !== undefined) {
    const named = memberships.find((membership) => membership.organization_id === header);
    if (!named) throw new ApiError("not_found", "There is no such organization, or you do not belong to it.");
    return named;
  }
  const [latest] = memberships;
  if (!latest) throw new ApiError("forbidden", "You do not belong to an organization.");
  return latest;
}

async function recordUse(deps: GuardDeps, userId: string, membership: Membership): Promise<void> {
  const now = deps.clock.now();
  const { last_used_at: lastUsedAt, organization_id: owner } = membership;
  if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < LAST_USED_PRECISION_MS) return;
  // Bookkeeping only: the request goes on where this cannot be written.
  await recordMembershipUse(deps.db, owner, { userId, usedAt: now }).catch((error: unknown) =>
    deps.log.warn("membership.use_not_recorded", { organizationId: owner, error }),
  );
}
