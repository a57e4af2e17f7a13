import type { Db } from "../../db/connections/pool.ts";
import { type Random, randomId } from "../../lib/secrets/random.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { makeIdFor, USER_ID } from "../account-ids.ts";
import { insertUser, insertUserAccount } from "../queries.ts";

type NewUser = { name: string; email: string; passwordHash: string; isEmailProven: boolean };

/**
 * Creates a person who signs in with a password, or returns null if the address already has an account. We write the rows ourselves
 * so that they commit together with the caller's changes. The caller hashes the password beforehand, because hashing takes longer
 * than a transaction should.
 */
export async function createUser(
  deps: { db: Db; clock: Clock; random: Random },
  { name, email, passwordHash, isEmailProven }: NewUser,
): Promise<{ userId: string; email: string } | null> {
  const now = deps.clock.now();
  const times = { created_at: now, updated_at: now };
  const id = randomId<string>(deps.random, USER_ID);
  const user = { id, name, email: email.toLowerCase(), email_verified: isEmailProven, image: null, ...times };
  if (!(await insertUser(deps.db, user))) return null;
  await insertUserAccount(deps.db, {
    id: makeIdFor(deps.random, "account"),
    user_id: id,
    provider_id: "credential",
    account_id: id,
    password: passwordHash,
    access_token: null,
    refresh_token: null,
    id_token: null,
    access_token_expires_at: null,
    refresh_token_expires_at: null,
    scope: null,
    ...times,
  });
  return { userId: id, email: user.email };
}
