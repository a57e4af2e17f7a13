import { createHash } from "node:crypto";
import { sql } from "kysely";
import { MINUTE_MS } from "#contract/durations.ts";
import type { Db } from "../../db/pool.ts";

// Links and codes that work once. better-auth writes most of them; these statements add what it lacks. They are not scoped to an
// organization: a person may belong to several.

/** better-auth's prefix for a reset link; the link's token follows. */
export const RESET_LINK = "reset-password:";
/** Kept readable in front of the hash, to distinguish a person's links from their other codes. */
const RESET_LINK_MARK = "reset-link:";
/** Longer than an authenticator's code is accepted: 30 seconds, plus one period before and after. */
const TOTP_CODE_MS = 2 * MINUTE_MS;

export function hashResetLink(identifier: string): string {
  return RESET_LINK_MARK + hash(identifier);
}

/**
 * Invalidates all of a person's reset links, or with `keptToken` only those older than that link. If two links are requested at
 * once, the newer one survives.
 */
export async function deleteResetLinks(db: Db, userId: string, keptToken: string | null = null): Promise<void> {
  let links = db
    .deleteFrom("user_verifications")
    .where("value", "=", userId)
    .where("identifier", "like", `${RESET_LINK_MARK}%`);
  if (keptToken !== null) {
    const kept = hashResetLink(RESET_LINK + keptToken);
    links = links.where(sql<boolean>`(created_at, identifier) < (
      select created_at, identifier from user_verifications where identifier = ${kept})`);
  }
  await links.execute();
}

/** False if this person has used the code before; if several use it at once, only one gets true. */
export async function takeTotpCode(db: Db, use: { userId: string; code: string; now: Date }): Promise<boolean> {
  const { userId, code, now } = use;
  const id = `totp:${hash(`${userId} ${code}`)}`;
  const expires_at = new Date(now.getTime() + TOTP_CODE_MS);
  const taken = await db
    .insertInto("user_verifications")
    .values({ id, identifier: id, value: userId, expires_at, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({ expires_at }).where("user_verifications.expires_at", "<=", now),
    )
    .returning("id")
    .executeTakeFirst();
  return taken !== undefined;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
