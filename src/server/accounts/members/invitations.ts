import type { InvitationMail } from "#contract/app/account.ts";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import type { MemberRole } from "#contract/app/role.ts";
import { DAY_MS } from "#contract/durations.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { INVITATION_DAYS } from "#contract/limits.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { randomId } from "../../lib/secrets/random.ts";
import type { Mail } from "../../mail/mail.ts";
import { INVITATION_ID } from "../account-ids.ts";
import { hashLinkToken, isShareableLinkToken, makeLinkToken, makeShareableLinkToken } from "../auth/link-token.ts";
import type { Member } from "../auth/member-auth.ts";
import { hashPassword } from "../auth/password.ts";
import { giveMailTurnBack, takeMailTurn } from "../auth/verification-queries.ts";
import { insertMember } from "../queries.ts";
import { createUser } from "../setup/create-user.ts";
import {
  countInvitedLocked,
  findInvitation,
  type InvitationRow,
  takeInvitation,
  updateInvitationToken,
  upsertInvitation,
} from "./invitation-queries.ts";

type JoinDeps = Pick<Deps, "db" | "clock" | "random">;
type InviteDeps = JoinDeps & Pick<Deps, "config"> & { readonly mail: Mail };

type InviteOutcome =
  | { kind: "invited"; invitation: InvitationRow; mail: InvitationMail; link: string | null }
  | { kind: "owner_invited" }
  | { kind: "too_many"; most: number }
  | { kind: "gone" };

/**
 * Emails the link. Returns a link for the member to share if there is no mail server, if it refuses the email, or if the member
 * sent the address one in the last minutes. `owner_invited`: the address has an owner's invitation, which only owners may replace.
 * `too_many`: of this day. `gone`: no email was sent, and by then the invitation had been revoked, accepted or replaced.
 */
export async function invite(
  deps: InviteDeps,
  member: Member,
  invited: { email: string; role: MemberRole; inviterName: string; organizationName: string },
): Promise<InviteOutcome> {
  const { mail } = deps;
  const { email, role, inviterName, organizationName } = invited;
  const now = deps.clock.now();
  const mailed = makeLinkToken(deps.random);
  const shown = makeShareableLinkToken(deps.random);
  const invitation: InvitationRow = {
    organization_id: member.organizationId,
    id: randomId<string>(deps.random, INVITATION_ID),
    email,
    role,
    invited_by: member.userId,
    created_at: now,
    expires_at: new Date(now.getTime() + INVITATION_DAYS * DAY_MS),
  };
  const most = deps.config.maxInvitationsPerDay;
  const saved = await inTransaction(deps.db, async (db) => {
    const since = new Date(now.getTime() - DAY_MS);
    if ((await countInvitedLocked(db, member.organizationId, since)) >= most) return "too_many";
    const row = { ...invitation, token_hash: mail.isOn ? mailed.hash : shown.hash };
    if (!(await upsertInvitation(db, row, { keepsOwners: member.role !== "owner" }))) return "owner_invited";
    await auditBy(deps, member, now)(db, { action: "invitation.created", target: email, detail: { role } });
    return "saved";
  });
  if (saved === "too_many") return { kind: saved, most };
  if (saved === "owner_invited") return { kind: saved };
  const toLink = (token: string) => `${deps.config.baseUrl}${ENTRY_PAGES.invitation}?token=${token}`;
  if (!mail.isOn) return { kind: "invited", invitation, mail: "off", link: toLink(shown.token) };
  const turn = { kind: `invitation from ${member.userId}`, email, now } as const;
  const hasTurn = await takeMailTurn(deps.db, turn);
  const isSent =
    hasTurn &&
    (await mail.send({
      to: email,
      purpose: { mail: "invitation", organizationId: member.organizationId },
      // Nothing that people enter: while sign-up is open, strangers could write the subject of an email from us.
      subject: "You have been invited to Bookflow",
      text: `${inviterName} (${member.email}) has invited you to join “${organizationName}” on Bookflow, where it manages its bookings. Accept the invitation to create your account. The link works once and expires in ${INVITATION_DAYS} days.`,
      action: "Accept the invitation",
      link: toLink(mailed.token),
    }));
  if (isSent) return { kind: "invited", invitation, mail: "sent", link: null };
  if (hasTurn) await giveMailTurnBack(deps.db, turn);
  const { organization_id: owner, id } = invitation;
  if (!(await updateInvitationToken(deps.db, owner, { id, token_hash: shown.hash }))) return { kind: "gone" };
  return { kind: "invited", invitation, mail: hasTurn ? "failed" : "too_soon", link: toLink(shown.token) };
}

export type JoinOutcome =
  | { kind: "joined"; organizationId: OrganizationId; email: string }
  | { kind: "unknown_link" }
  | { kind: "other_address" }
  | { kind: "has_account" };

/** For a person who is signed in with the invited address. */
export async function joinAsPerson(
  deps: JoinDeps,
  { token, person }: { token: string; person: { userId: string; email: string } },
): Promise<JoinOutcome> {
  const hash = hashLinkToken(token);
  const invitation = await findInvitation(deps.db, hash, deps.clock.now());
  if (!invitation) return { kind: "unknown_link" };
  if (invitation.email !== person.email) return { kind: "other_address" };
  return await inTransaction(deps.db, async (db): Promise<JoinOutcome> => {
    const taken = await takeInvitation(db, hash, deps.clock.now());
    return taken ? await addMember(deps, db, { invitation: taken, person }) : { kind: "unknown_link" };
  });
}

/** For a person without an account. An emailed link verifies their address; a shared one does not. */
export async function joinAsNewPerson(
  deps: JoinDeps,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<JoinOutcome> {
  const hash = hashLinkToken(token);
  const found = await findInvitation(deps.db, hash, deps.clock.now());
  if (!found) return { kind: "unknown_link" };
  const isEmailProven = !isShareableLinkToken(token);
  const passwordHash = await hashPassword(deps, password);
  return await inTransaction(deps.db, async (db): Promise<JoinOutcome> => {
    const invitation = await takeInvitation(db, hash, deps.clock.now());
    if (!invitation) return { kind: "unknown_link" };
    const { email } = invitation;
    const person = await createUser({ ...deps, db }, { name, email, passwordHash, isEmailProven });
    if (person) return await addMember(deps, db, { invitation, person });
    await upsertInvitation(db, { ...invitation, token_hash: hash }, { keepsOwners: false });
    return { kind: "has_account" };
  });
}

async function addMember(
  deps: JoinDeps,
  db: Db,
  { invitation, person }: { invitation: InvitationRow; person: { userId: string; email: string } },
): Promise<JoinOutcome> {
  const { organization_id: organizationId, role } = invitation;
  const now = deps.clock.now();
  const row = { organization_id: organizationId, user_id: person.userId, role, created_at: now, last_used_at: now };
  // An existing member keeps their role.
  if (await insertMember(db, row)) {
    const audit = auditBy(deps, { ...person, organizationId }, now);
    await audit(db, { action: "member.added", target: person.email, detail: { role } });
  }
  return { kind: "joined", organizationId, email: person.email };
}
