import type { MemberShape } from "#contract/app/account.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { ApiError, notFound } from "../../http/errors/api-error.ts";
import { requireFields } from "../../http/errors/check-fields.ts";
import { requireUnchanged } from "../../http/require-unchanged.ts";
import { isUserId } from "../account-ids.ts";
import { type Member, requireRole } from "../auth/member-auth.ts";
import type { HttpRoutes } from "../auth/route-table.ts";
import { checkRole } from "../check-fields.ts";
import {
  deleteMember,
  findMember,
  listMembers,
  lockOwners,
  type MemberRow,
  updateMemberRole,
} from "./member-queries.ts";
import { requireOwnerForOwners } from "./require-owner.ts";

type MemberDeps = Pick<Deps, "db" | "clock" | "random">;

/** The organization's members. People join by invitation. */
export function memberRoutes(routes: HttpRoutes, deps: MemberDeps): void {
  routes.add("listMembers", async ({ member }) => ({
    data: (await listMembers(deps.db, member.organizationId)).map(toShape),
  }));

  routes.add("changeMember", async ({ member, params, body }) => {
    const { organizationId } = member;
    const { role } = requireFields({ role: checkRole(body.role) });
    await inTransaction(deps.db, async (db) => {
      const { actor, owners } = await lockActor(db, member);
      requireRole(actor, "admin");
      const target = await findTarget(db, organizationId, params.userId);
      requireOwnerForOwners(actor, [target.role, role]);
      requireUnchanged({ role: target.role }, body);
      if (role !== "owner") keepOneOwner(target, owners);
      await updateMemberRole(db, organizationId, { userId: target.user_id, role });
      const detail = { from: target.role, to: role };
      const audit = auditBy(deps, actor, deps.clock.now());
      await audit(db, { action: "member.role_changed", target: target.email, detail });
    });
    return null;
  });

  // Anyone may leave. Removing someone else takes an admin.
  routes.add("removeMember", async ({ member, params }) => {
    const { organizationId, userId } = member;
    const isOwnLeave = params.userId === userId;
    await inTransaction(deps.db, async (db) => {
      const { actor, owners } = await lockActor(db, member);
      if (!isOwnLeave) requireRole(actor, "admin");
      const target = await findTarget(db, organizationId, params.userId);
      requireOwnerForOwners(actor, [target.role]);
      keepOneOwner(target, owners);
      await deleteMember(db, organizationId, target.user_id);
      const action = isOwnLeave ? "member.left" : "member.removed";
      await auditBy(deps, actor, deps.clock.now())(db, { action, target: target.email, detail: { role: target.role } });
    });
    return null;
  });
}

/**
 * The member with their current role: someone may have removed them or changed their role since the guard looked. Locks the
 * owners first, so if two owners remove each other at the same moment, only one of them succeeds.
 */
async function lockActor(db: Db, member: Member): Promise<{ actor: Member; owners: number }> {
  const owners = await lockOwners(db, member.organizationId);
  const current = await findMember(db, member.organizationId, member.userId);
  if (!current) throw new ApiError("forbidden", "You're no longer a member of this organization.");
  return { actor: { ...member, role: current.role }, owners };
}

async function findTarget(db: Db, organizationId: OrganizationId, userId: string): Promise<MemberRow> {
  const target = isUserId(userId) ? await findMember(db, organizationId, userId) : null;
  if (!target) throw notFound("Member");
  return target;
}

function keepOneOwner(target: MemberRow, owners: number): void {
  if (target.role === "owner" && owners < 2)
    throw new ApiError("conflict", "An organization needs at least one owner. Make someone else an owner first.");
}

function toShape(row: MemberRow): MemberShape {
  return {
    userId: row.user_id,
    name: row.name,
    email: row.email,
    role: row.role,
    isTwoFactorOn: row.two_factor_enabled,
    joinedAt: row.created_at.toISOString(),
  };
}
