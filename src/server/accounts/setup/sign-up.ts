import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { SIGN_UP_LINK_MINUTES } from "#contract/limits.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import type { Mail } from "../../mail/mail.ts";
import { hashLinkToken, makeLinkToken } from "../auth/link-token.ts";
import { hashPassword } from "../auth/password.ts";
import { sendRequestedMail } from "../auth/requested-mail.ts";
import { insertSignUpLink, takeSignUpLink } from "../auth/verification-queries.ts";
import { findUserByEmail } from "../queries.ts";
import { createUser } from "./create-user.ts";

// While sign-up is open, anyone can create an account, but only for an address whose emails they can read. The account exists
// only after that, so nobody can prepare one for someone else.

type SignUpDeps = Pick<Deps, "db" | "clock" | "random" | "config"> & { readonly mail: Mail };

export async function sendSignUpLink(deps: SignUpDeps, email: string): Promise<void> {
  const { baseUrl } = deps.config;
  await sendRequestedMail(deps, { kind: "sign-up", to: email }, async () => {
    if (await findUserByEmail(deps.db, email))
      return {
        subject: "You already have an account",
        text: "Someone asked to create a Bookflow account with your email address, which already has one. If it was you, sign in below. If it wasn't you, you can ignore this email.",
        action: "Sign in",
        link: `${baseUrl}${ENTRY_PAGES.signIn}?${new URLSearchParams({ email })}`,
      };
    const token = await makeSignUpLink(deps, email);
    return {
      subject: "Create your account",
      text: `Someone asked to create a Bookflow account with your email address. The link below works once and expires in ${SIGN_UP_LINK_MINUTES} minutes. If it wasn't you, you can ignore this email.`,
      action: "Create your account",
      link: `${baseUrl}${ENTRY_PAGES.signUp}?${new URLSearchParams({ token, email })}`,
    };
  });
}

async function makeSignUpLink({ db, clock, random }: SignUpDeps, email: string): Promise<string> {
  const { token, hash } = makeLinkToken(random);
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + SIGN_UP_LINK_MINUTES * MINUTE_MS);
  await insertSignUpLink(db, { tokenHash: hash, email, now, expiresAt });
  return token;
}

type SignUpOutcome = { kind: "done"; email: string } | { kind: "unknown_link" } | { kind: "has_account" };

export async function signUp(
  deps: Omit<SignUpDeps, "mail">,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<SignUpOutcome> {
  const passwordHash = await hashPassword(deps, password);
  return await inTransaction(deps.db, async (db): Promise<SignUpOutcome> => {
    const email = await takeSignUpLink(db, hashLinkToken(token), deps.clock.now());
    if (email === null) return { kind: "unknown_link" };
    const person = await createUser({ ...deps, db }, { name, email, passwordHash, isEmailProven: true });
    return person ? { kind: "done", email } : { kind: "has_account" };
  });
}
