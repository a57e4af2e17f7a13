import type { AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import { randomUuid, systemRandom } from "../lib/random.ts";

export type NewAuditEntry = {
  organizationId: OrganizationId;
  /** Null for the operator, on the command line. */
  actor: { userId: string; email?: string } | null;
  action: AuditAction;
  /** An id or a name of ours, never anything about a customer. */
  target?: string;
  detail?: Record<string, string | number>;
  at: Date;
};

/** In the caller's transaction, so that what is done and what is said to have been done cannot differ. */
export async function writeAudit(db: Db, entry: NewAuditEntry): Promise<void> {
  await db
    .insertInto("audit_entries")
    .values({
      organization_id: entry.organizationId,
      id: randomUuid(systemRandom),
      at: entry.at,
      user_id: entry.actor?.userId ?? null,
      email: entry.actor?.email ?? null,
      action: entry.action,
      target: entry.target ?? null,
      detail: JSON.stringify(entry.detail ?? {}),
    })
    .execute();
}
