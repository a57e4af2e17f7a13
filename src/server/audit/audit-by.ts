import type { OrganizationId } from "#contract/ids.ts";
import type { Db } from "../db/pool.ts";
import type { Deps } from "../deps.ts";
import { type NewAuditEntry, writeAudit } from "./write-audit.ts";

/** Logs an action in the transaction that performs it. */
export type Audit = (transaction: Db, what: Omit<NewAuditEntry, "organizationId" | "actor" | "at">) => Promise<void>;

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

/** For the command line, which cannot tell who the operator is. */
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
