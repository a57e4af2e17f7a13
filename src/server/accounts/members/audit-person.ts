import type { AuditAction } from "#contract/app/audit.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Deps } from "../../deps.ts";
import { listMemberships } from "../queries.ts";

/** Changes to a person's own account are logged in every organization they belong to. */
export async function auditPerson(
  deps: Pick<Deps, "db" | "clock" | "random">,
  { user, action }: { user: { id: string; email: string }; action: AuditAction },
): Promise<void> {
  const at = deps.clock.now();
  for (const { organization_id: organizationId } of await listMemberships(deps.db, user.id)) {
    await auditBy(deps, { organizationId, userId: user.id, email: user.email }, at)(deps.db, { action });
  }
}
