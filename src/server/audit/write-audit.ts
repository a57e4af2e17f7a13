import type { AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { randomUuid } from "../lib/random.ts";

export type NewAuditEntry = {
  organizationId: OrganizationId;
  /** Null for the operator, on the command line. */
  actor: { userId: string; email?: string } | null;
  action: AuditAction;
  /** An id or a name of ours, never anything about a customer. */
  target?: string;
  /** What the target is called at this time; later it may be called otherwise, or be gone. */
  name?: string | undefined;
  /** Where this very act gave it another name. */
  formerName?: string;
  detail?: Record<string, string | number>;
  at: Date;
};

/** In the caller's transaction, so that what is done and what is said to have been done cannot differ. */
export async function writeAudit({ db, random }: Pick<Deps, "db" | "random">, entry: NewAuditEntry): Promise<void> {
  await db
    .insertInto("audit_entries")
    .values({
      organization_id: entry.organizationId,
      id: randomUuid(random),
      at: entry.at,
      user_id: entry.actor?.userId ?? null,
      email: entry.actor?.email ?? null,
      action: entry.action,
      target: entry.target ?? null,
      detail: JSON.stringify({ ...toNames(entry), ...entry.detail }),
    })
    .execute();
}

function toNames({ name, formerName = name }: NewAuditEntry): Record<string, string> {
  if (name === undefined) return {};
  return formerName === undefined || formerName === name ? { name } : { name, formerName };
}
