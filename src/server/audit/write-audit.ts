import type { AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { randomUuid } from "../lib/secrets/random.ts";

export type NewAuditEntry = {
  /** Random unless given. */
  id?: string | undefined;
  organizationId: OrganizationId;
  /** Null for the operator on the command line. */
  actor: { userId: string; email?: string } | null;
  action: AuditAction;
  /** An id, or a member's address; never anything about a customer. */
  target?: string;
  /** The target's name at this time. It may be renamed or deleted later. */
  name?: string | undefined;
  /** Its previous name, if this action renamed it. */
  formerName?: string;
  detail?: Record<string, string | number>;
  at: Date;
};

/** Writes the entry in the caller's transaction, so that the log always matches what was done. */
export async function writeAudit({ db, random }: Pick<Deps, "db" | "random">, entry: NewAuditEntry): Promise<void> {
  await db
    .insertInto("audit_entries")
    .values({
      organization_id: entry.organizationId,
      id: entry.id ?? randomUuid(random),
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
