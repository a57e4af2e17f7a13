import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { type NewAuditEntry, writeAudit } from "./write-audit.ts";

/** Logs an action in the transaction that performs it. */
export type Audit = (transaction: Db, what: Omit<NewAuditEntry, "organizationId" | "actor" | "at">) => Promise<void>;

export function auditBy(
  { random }: Pick<Deps, "random">,
  { organizationId, userId, email }: { organizationId: OrganizationId; userId: string; email: string },
  at: Date,
): Audit {
  return async (db, what) => writeAudit({ db, random }, { organizationId, actor: { userId, email }, at, ...what });
}

/** For the command line, which cannot tell who the operator is. */
export function auditByOperator({ random }: Pick<Deps, "random">, organizationId: OrganizationId, at: Date): Audit {
  return async (db, what) => writeAudit({ db, random }, { organizationId, actor: null, at, ...what });
}
