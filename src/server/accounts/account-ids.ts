import { BASE58, type IdForm } from "#contract/ids.ts";
import { type Random, randomId } from "../lib/random.ts";

// Ids of people and of what belongs to them. Only those of users, sign-ins and invitations are ever seen outside.

export const USER_ID: IdForm = { prefix: "usr_", alphabet: BASE58, length: 16 };
const SIGN_IN_ID: IdForm = { prefix: "ses_", alphabet: BASE58, length: 16 };
export const INVITATION_ID: IdForm = { prefix: "inv_", alphabet: BASE58, length: 16 };
const INNER_ID: IdForm = { prefix: "", alphabet: BASE58, length: 22 };

/** By better-auth's name of a thing. */
export function toIdOf(random: Random, model: string): string {
  if (model === "user") return randomId(random, USER_ID);
  return randomId(random, model === "session" ? SIGN_IN_ID : INNER_ID);
}
