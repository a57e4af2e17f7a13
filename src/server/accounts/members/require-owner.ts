import type { MemberRole } from "#contract/app/role.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import type { Member } from "../auth/member-auth.ts";

/** Guard: admins manage everyone except owners. */
export function requireOwnerForOwners(actor: Pick<Member, "role">, roles: readonly MemberRole[]): void {
  if (actor.role !== "owner" && roles.includes("owner")) throw ownersOnly();
}

export function ownersOnly(): ApiError {
  return new ApiError("forbidden", "Only owners can add, change or remove owners.");
}
