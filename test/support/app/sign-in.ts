import assert from "node:assert/strict";
import { argon2Sync } from "node:crypto";
import type { MemberRole } from "#contract/app/role.ts";
import type { OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { insertMember } from "../../../src/server/accounts/queries.ts";
import { createUser } from "../../../src/server/accounts/setup/create-user.ts";
import { randomUuid, systemRandom } from "../../../src/server/lib/secrets/random.ts";
import { makeOrganization } from "../builders.ts";
import type { TestApp } from "./app.ts";

export const TEST_PASSWORD = "correct horse battery";
const TEST_HASH = hashCheaply(TEST_PASSWORD);

/** The headers our own page sends with each request. */
export type PageHeaders = { cookie: string; origin: string; "x-organization": string };

export type SignedIn = {
  userId: string;
  email: string;
  password: string;
  organizationId: OrganizationId;
  cookie: string;
  headers: PageHeaders;
};

/** A new person, a member of the given or a new organization, signed in with their password. */
export async function signIn(
  { deps }: Pick<TestApp, "deps">,
  options: { role: MemberRole; organizationId?: OrganizationId; plan?: Plan; email?: string },
): Promise<SignedIn> {
  const { db, clock } = deps;
  const organizationId =
    options.organizationId ?? (await makeOrganization(db, options.plan === undefined ? {} : { plan: options.plan }));
  const email = options.email ?? `${options.role}-${randomUuid(systemRandom)}@example.com`;
  const person = { name: `The ${options.role}`, email, passwordHash: TEST_HASH, isEmailProven: true };
  const user = await createUser(deps, person);
  assert.ok(user, "the address is free");
  const { userId } = user;
  const member = { organization_id: organizationId, user_id: userId, role: options.role, last_used_at: null };
  await insertMember(db, { ...member, created_at: clock.now() });
  const cookies = await deps.accounts.auth.signIn({ email, password: TEST_PASSWORD, userAgent: "Firefox/1 Linux" });
  assert.ok(cookies, "the password is right");
  const cookie = toCookieHeader(cookies);
  const origin = new URL(deps.config.baseUrl).origin;
  const headers = { cookie, origin, "x-organization": organizationId };
  return { userId, email, password: TEST_PASSWORD, organizationId, cookie, headers };
}

/** Checking a password is slow on purpose; a hash names its own costs, and these are the lowest. */
function hashCheaply(password: string): string {
  const costs = { memory: 8, passes: 1, parallelism: 1 };
  const nonce = Buffer.alloc(16, "salt");
  const hash = argon2Sync("argon2id", { ...costs, message: Buffer.from(password), nonce, tagLength: 32 });
  const toText = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${costs.memory},t=${costs.passes},p=${costs.parallelism}$${toText(nonce)}$${toText(hash)}`;
}

function toCookieHeader(setCookies: readonly string[]): string {
  return setCookies
    .filter((line) => !/max-age=0/i.test(line))
    .map((line) => line.split(";")[0])
    .join("; ");
}
