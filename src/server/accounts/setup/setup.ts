import type { SetUpRequest } from "#contract/app/account.ts";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { ORGANIZATION_ID, type OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { auditBy } from "../../audit/audit.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { insertOrganization } from "../../organizations/organizations.ts";
import { hashLinkToken, makeLinkToken } from "../auth/link-token.ts";
import { hashPassword } from "../auth/password.ts";
import { hasSetupLink, hasUsers, insertMember, insertSetupLink, takeSetupLinks } from "../queries.ts";
import { createUser } from "./create-user.ts";

// While there is no user, every start prints a setup link. The first person to open it becomes the first owner.

type SetUpDeps = Pick<Deps, "db" | "clock" | "random" | "config">;

/** The link to print, or null once there are users. */
export async function makeSetupLink(deps: SetUpDeps, address: string): Promise<string | null> {
  if (await hasUsers(deps.db)) return null;
  const { token, hash } = makeLinkToken(deps.random);
  await insertSetupLink(deps.db, { token_hash: hash, created_at: deps.clock.now() });
  return `${address}${ENTRY_PAGES.setUp}?token=${token}`;
}

type SetUpOutcome =
  | { kind: "done"; organizationId: OrganizationId }
  | { kind: "unknown_link" }
  | { kind: "set_up_already" };

export async function setUp(deps: SetUpDeps, form: SetUpRequest): Promise<SetUpOutcome> {
  if (await hasUsers(deps.db)) return { kind: "set_up_already" };
  if (!(await hasSetupLink(deps.db, hashLinkToken(form.token)))) {
    // Someone else may have used the link since, and created the first user.
    return { kind: (await hasUsers(deps.db)) ? "set_up_already" : "unknown_link" };
  }
  const passwordHash = await hashPassword(deps, form.password);
  return await inTransaction(deps.db, async (db): Promise<SetUpOutcome> => {
    const isFirst = (await takeSetupLinks(db)) && !(await hasUsers(db));
    if (!isFirst) return { kind: "set_up_already" };
    const { name, email, organizationName, timeZone, plan } = form;
    // Only the operator can read the service's output, so the address needs no further proof.
    const owner = await createUser({ ...deps, db }, { name, email, passwordHash, isEmailProven: true });
    assert(owner, "the first user's address is free");
    const organization = { name: organizationName, timeZone, plan, owner };
    const organizationId = await createOrganization({ ...deps, db }, organization);
    return { kind: "done", organizationId };
  });
}

/** Creates an organization with its owner, in the caller's transaction. Without a plan, it gets the default one. */
export async function createOrganization(
  deps: Pick<Deps, "db" | "clock" | "random" | "config">,
  organization: {
    id?: OrganizationId;
    name: string;
    timeZone: string;
    plan?: Plan | undefined;
    owner: { userId: string; email: string };
  },
): Promise<OrganizationId> {
  const { db } = deps;
  const now = deps.clock.now();
  const id = organization.id ?? randomId<OrganizationId>(deps.random, ORGANIZATION_ID);
  const plan = organization.plan ?? deps.config.defaultPlan;
  await insertOrganization(db, {
    id,
    name: organization.name,
    plan,
    time_zone: organization.timeZone,
    created_at: now,
  });
  const member = { organization_id: id, user_id: organization.owner.userId, role: "owner" as const, created_at: now };
  await insertMember(db, { ...member, last_used_at: now });
  const audit = auditBy(deps, { ...organization.owner, organizationId: id }, now);
  await audit(db, { action: "organization.created", target: id, name: organization.name, detail: { plan } });
  return id;
}
