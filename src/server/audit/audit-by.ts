import type { AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { writeAudit } from "./write-audit.ts";

/** Writes down what a member does, in the transaction that does it. */
export type Audit = (
  transaction: Db,
  what: { action: AuditAction; target?: string; detail?: Record<string, string | number> },
) => Promise<void>;

export function auditBy(member: { organizationId: OrganizationId; userId: string; email: string }, at: Date): Audit {
  const { organizationId, userId, email } = member;
  return async (transaction, what) =>
    writeAudit(transaction, { organizationId, actor: { userId, email }, at, ...what });
}
