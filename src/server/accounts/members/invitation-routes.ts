import type { InvitationShape } from "#contract/app/account.ts";
import { auditBy } from "../../audit/audit.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { checkEmail, requireFields } from "../../http/errors/check-fields.ts";
import { RateLimiter, rateLimited } from "../../http/limits/rate-limit.ts";
import { assert } from "../../lib/assert.ts";
import type { Mail } from "../../mail/mail.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { isInvitationId } from "../account-ids.ts";
import { type Member, personOf } from "../auth/member-auth.ts";
import type { HttpRoutes } from "../auth/route-table.ts";
import { checkRole } from "../check-fields.ts";
import { deleteInvitation, type InvitationRow, listInvitations } from "./invitation-queries.ts";
import { invite } from "./invitations.ts";
import { listMembers } from "./member-queries.ts";
import { ownersOnly, requireOwnerForOwners } from "./require-owner.ts";

/** For one organization, and for one person: while sign-up is open, our mail server must not send strangers' spam. */
const INVITATIONS_PER_MINUTE = 20;
const UNPROVEN =
  "Confirm your email address first: sign out, choose “Forgot your password?”, and open the link we send you.";
const toTooMany = (most: number) =>
  `An organization can invite ${most} people in 24 hours. Try again tomorrow, or ask the operator to raise MAX_INVITATIONS_PER_DAY.`;
const GONE_MEANWHILE =
  "The email could not be sent. Meanwhile, the invitation was revoked, accepted or replaced. Check the list of invitations.";

type InvitationDeps = Pick<Deps, "db" | "clock" | "random" | "config"> & { readonly mail: Mail };

/** The organization's open invitations. entry-routes.ts accepts them. */
export function invitationRoutes(routes: HttpRoutes, deps: InvitationDeps): void {
  routes.add("listInvitations", async ({ member }) => {
    const rows = await listInvitations(deps.db, member.organizationId, deps.clock.now());
    return { data: rows.map(toShape) };
  });

  inviteRoute(routes, deps);

  routes.add("revokeInvitation", async ({ member, params: { id } }) => {
    const { organizationId } = member;
    if (!isInvitationId(id)) throw notFound("Invitation");
    await inTransaction(deps.db, async (db) => {
      const gone = await deleteInvitation(db, organizationId, id);
      if (!gone) throw notFound("Invitation");
      requireOwnerForOwners(member, [gone.role]);
      await auditBy(deps, member, deps.clock.now())(db, { action: "invitation.revoked", target: gone.email });
    });
    return null;
  });
}

function inviteRoute(routes: HttpRoutes, deps: InvitationDeps): void {
  const limiter = new RateLimiter({ perMinute: INVITATIONS_PER_MINUTE });

  routes.add("invite", async ({ member, body, request }) => {
    const { email, role } = requireFields({ email: checkEmail(body.email), role: checkRole(body.role) });
    requireOwnerForOwners(member, [role]);
    // The email names the person who invites.
    if (deps.mail.isOn && !personOf(request).isEmailProven) throw new ApiError("forbidden", UNPROVEN);
    const members = await listMembers(deps.db, member.organizationId);
    if (members.some((each) => each.email === email))
      throw new ApiError("conflict", "This person is already a member.");
    requireFewInvitations(limiter, member, deps.clock.now());
    const organization = await findOrganization(deps.db, member.organizationId);
    assert(organization, "a member's organization exists");
    const inviterName = members.find((each) => each.email === member.email)?.name ?? "";
    const outcome = await invite(deps, member, { email, role, inviterName, organizationName: organization.name });
    switch (outcome.kind) {
      case "owner_invited":
        throw ownersOnly();
      case "too_many":
        throw new ApiError("rate_limited", toTooMany(outcome.most));
      case "gone":
        throw new ApiError("conflict", GONE_MEANWHILE);
      case "invited":
        return { ...outcome, invitation: toShape(outcome.invitation) };
      default:
        return outcome satisfies never;
    }
  });
}

function requireFewInvitations(limiter: RateLimiter, { organizationId, userId }: Member, now: Date): void {
  for (const key of [userId, organizationId]) {
    const verdict = limiter.take(key, now);
    if (!verdict.isAllowed) throw rateLimited(verdict, "Too many invitations. Wait a minute, then try again.");
  }
}

function toShape(row: InvitationRow): InvitationShape {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
