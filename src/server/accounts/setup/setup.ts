import type { SetUpRequest } from "#contract/app/account.ts";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { ORGANIZATION_ID, type OrganizationId } from "#contract/ids.ts";
import type { Plan } from "#contract/plans.ts";
import { auditBy } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { insertOrganization } from "../../organizations/organizations.ts";
import { hashLinkToken, makeLinkToken } from "../auth/link-token.ts";
import { hashPassword } from "../auth/password.ts";
import { hasUsers, insertMember } from "../queries.ts";
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

// Not scoped to an organization: setup happens before the first one exists.

async function insertSetupLink(db: Db, row: { token_hash: Buffer; created_at: Date }): Promise<void> {
  await db.insertInto("setup_links").values(row).execute();
}

async function hasSetupLink(db: Db, tokenHash: Buffer): Promise<boolean> {
  const link = db.selectFrom("setup_links").select("created_at").where("token_hash", "=", tokenHash);
  return (await link.executeTakeFirst()) !== undefined;
}

/** False if someone else was first: this waits for their transaction, and then finds nothing to delete. */
async function takeSetupLinks(db: Db): Promise<boolean> {
  const gone = await db.deleteFrom("setup_links").returning("created_at").execute();
  return gone.length > 0;
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
