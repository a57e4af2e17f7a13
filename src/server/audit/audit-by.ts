import type { AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { writeAudit } from "./write-audit.ts";

/** Writes down what somebody does, in the transaction that does it. */
export type Audit = (
  transaction: Db,
  what: { action: AuditAction; target?: string; detail?: Record<string, string | number> },
) => Promise<void>;

export function auditBy(member: { organizationId: OrganizationId; userId: string; email: string }, at: Date): Audit {
  const { organizationId, userId, email } = member;
  return async (transaction, what) =>
    writeAudit(transaction, { organizationId, actor: { userId, email }, at, ...what });
}

/** On the command line; who the operator is, it does not know. */
export function auditByOperator(organizationId: OrganizationId, at: Date): Audit {
  return async (transaction, what) => writeAudit(transaction, { organizationId, actor: null, at, ...what });
}
