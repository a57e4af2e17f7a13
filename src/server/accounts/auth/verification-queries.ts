import { createHash } from "node:crypto";
import { MINUTE_MS } from "#contract/durations.ts";
import { MAIL_PAUSE_MINUTES } from "#contract/limits.ts";
import type { Db } from "../../db/connections/pool.ts";

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

/** Invalidates all of a person's reset links. */
export async function deleteResetLinks(db: Db, userId: string): Promise<void> {
  const links = db.deleteFrom("user_verifications").where("value", "=", userId);
  await links.where("identifier", "like", `${RESET_LINK_MARK}%`).execute();
}

export async function insertSignUpLink(
  db: Db,
  link: { tokenHash: Buffer; email: string; now: Date; expiresAt: Date },
): Promise<void> {
  const id = toSignUpLink(link.tokenHash);
  const times = { expires_at: link.expiresAt, created_at: link.now, updated_at: link.now };
  await db
    .insertInto("user_verifications")
    .values({ id, identifier: id, value: link.email, ...times })
    .execute();
}

/** The address that the link proves, or null. The link works once. */
export async function takeSignUpLink(db: Db, tokenHash: Buffer, now: Date): Promise<string | null> {
  const link = db.deleteFrom("user_verifications").where("id", "=", toSignUpLink(tokenHash));
  return (await link.where("expires_at", ">", now).returning("value").executeTakeFirst())?.value ?? null;
}

function toSignUpLink(tokenHash: Buffer): string {
  return `sign-up:${tokenHash.toString("base64url")}`;
}

/** False if this person has used the code before; if several use it at once, only one gets true. */
export async function takeTotpCode(db: Db, use: { userId: string; code: string; now: Date }): Promise<boolean> {
  const { userId, code, now } = use;
  return await takeOnce(db, { id: `totp:${hash(`${userId} ${code}`)}`, value: userId, forMs: TOTP_CODE_MS, now });
}

/** Email that anyone can request for any address. */
export type RequestedMailKind = "reset" | "sign-up";
/** An invitation is limited for each person who sends it: one stranger must not use up the turn of others. */
type MailKind = RequestedMailKind | `invitation from ${string}`;

/** False if an email of this kind was sent to the address in the last minutes; if several ask at once, only one gets true. */
export async function takeMailTurn(db: Db, mail: { kind: MailKind; email: string; now: Date }): Promise<boolean> {
  const { kind, email, now } = mail;
  return await takeOnce(db, { id: toMailTurn(kind, email), value: "", forMs: MAIL_PAUSE_MINUTES * MINUTE_MS, now });
}

/** For an email that could not be sent: the next request tries again. */
export async function giveMailTurnBack(db: Db, mail: { kind: MailKind; email: string }): Promise<void> {
  await db.deleteFrom("user_verifications").where("id", "=", toMailTurn(mail.kind, mail.email)).execute();
}

function toMailTurn(kind: MailKind, email: string): string {
  return `mail:${kind}:${hash(email.toLowerCase())}`;
}

/** Takes an id that then is taken for some time. */
async function takeOnce(db: Db, use: { id: string; value: string; forMs: number; now: Date }): Promise<boolean> {
  const { id, value, forMs, now } = use;
  const expires_at = new Date(now.getTime() + forMs);
  const taken = await db
    .insertInto("user_verifications")
    .values({ id, identifier: id, value, expires_at, created_at: now, updated_at: now })
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
