import type { AuditAction } from "#contract/app/audit.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/connections/pool.ts";
import type { Deps } from "../deps.ts";
import { randomUuid } from "../lib/secrets/random.ts";
import { insertAuditEntry } from "./queries.ts";

/** Logs an action in the transaction that performs it. */
export type Audit = (transaction: Db, what: Omit<NewAuditEntry, "organizationId" | "actor" | "at">) => Promise<void>;

/** Logs what a transaction does to one thing, in that transaction. `before`: the thing before an edit. */
export type AuditOf<Thing> = (transaction: Db, thing: Thing, before?: Thing) => Promise<void>;

/** `auditId`: the id of the entry, if the request decides it. */
type Actor = { organizationId: OrganizationId; userId: string; email: string; auditId?: string; isOperator?: true };

export function auditBy(
  { random }: Pick<Deps, "random">,
  { organizationId, userId, email, auditId: id, isOperator }: Actor,
  at: Date,
): Audit {
  const actor = isOperator ? null : { userId, email };
  return async (db, what) => writeAudit({ db, random }, { id, organizationId, actor, at, ...what });
}

/** For the command line, which cannot tell who the operator is, and for what Bookflow does by itself. */
export function auditByOperator({ random }: Pick<Deps, "random">, organizationId: OrganizationId, at: Date): Audit {
  return async (db, what) => writeAudit({ db, random }, { organizationId, actor: null, at, ...what });
}

/** Longer values are cut: the log says what was changed, and isn't a copy of it. */
const VALUE_LENGTH_MAX = 80;

/**
 * The changed fields with their old and new values, for an entry's detail: "classic → minimal". The name has its own place
 * (`formerName`). Never for secrets, or for URLs that work like one.
 */
export function describeChanges(before: object, after: object): Record<string, string> {
  const old = new Map<string, unknown>(Object.entries(before));
  const values = Object.entries(after).flatMap(([field, value]) => {
    const [from, to] = [toText(old.get(field)), toText(value)];
    return field === "name" || from === to ? [] : [[field, `${from} → ${to}`]];
  });
  return { changed: Object.keys(after).join(", "), ...Object.fromEntries(values) };
}

function toText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "none";
  if (typeof value === "boolean") return value ? "on" : "off";
  const text =
    typeof value === "object" ? (Array.isArray(value) ? value.join(", ") : JSON.stringify(value)) : String(value);
  if (text === "") return "none";
  return [...text].length > VALUE_LENGTH_MAX ? `${[...text].slice(0, VALUE_LENGTH_MAX).join("")}…` : text;
}

type NewAuditEntry = {
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
async function writeAudit({ db, random }: Pick<Deps, "db" | "random">, entry: NewAuditEntry): Promise<void> {
  await insertAuditEntry(db, {
    organization_id: entry.organizationId,
    id: entry.id ?? randomUuid(random),
    at: entry.at,
    user_id: entry.actor?.userId ?? null,
    email: entry.actor?.email ?? null,
    action: entry.action,
    target: entry.target ?? null,
    detail: JSON.stringify({ ...toNames(entry), ...entry.detail }),
  });
}

function toNames({ name, formerName = name }: NewAuditEntry): Record<string, string> {
  if (name === undefined) return {};
  return formerName === undefined || formerName === name ? { name } : { name, formerName };
}
