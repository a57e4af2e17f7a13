import { BASE58, hasForm, type IdForm } from "#contract/ids.ts";
import { type Random, randomId } from "../lib/secrets/random.ts";

// Ids of people and of their sessions and invitations. Callers see only the ids of users, sessions and invitations.

export const USER_ID: IdForm = { prefix: "usr_", alphabet: BASE58, length: 16 };
const SESSION_ID: IdForm = { prefix: "ses_", alphabet: BASE58, length: 16 };
export const INVITATION_ID: IdForm = { prefix: "inv_", alphabet: BASE58, length: 16 };
const INNER_ID: IdForm = { prefix: "", alphabet: BASE58, length: 22 };

export function isUserId(text: string): boolean {
  return hasForm(text, USER_ID);
}

export function isSessionId(text: string): boolean {
  return hasForm(text, SESSION_ID);
}

export function isInvitationId(text: string): boolean {
  return hasForm(text, INVITATION_ID);
}

export function makeIdFor(random: Random, model: string): string {
  if (model === "user") return randomId(random, USER_ID);
  return randomId(random, model === "session" ? SESSION_ID : INNER_ID);
}
