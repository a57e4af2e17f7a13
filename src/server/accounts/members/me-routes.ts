import type { SignIn } from "#contract/app/account.ts";
import { ORGANIZATION_HEADER } from "#contract/app/routes.ts";
import { DAY_MS } from "#contract/durations.ts";
import { ORGANIZATION_ID, type OrganizationId } from "#contract/ids.ts";
import type { Config } from "../../config.ts";
import type { Db } from "../../db/connections/pool.ts";
import { makeOnce } from "../../db/statements/make-once.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import { checkName, checkTimeZone, requireFields } from "../../http/errors/check-fields.ts";
import { chooseId } from "../../http/idempotency-key.ts";
import { findOrganization } from "../../organizations/organizations.ts";
import { isSessionId } from "../account-ids.ts";
import type { HttpRoutes } from "../auth/route-table.ts";
import { deleteOtherSessions, deleteSession, listSessions, type SessionRow } from "../auth/session-queries.ts";
import {
  countOwnedLocked,
  deleteOidcAccounts,
  findSignInWays,
  listMemberships,
  type Membership,
  updateUserName,
} from "../queries.ts";
import { createOrganization } from "../setup/setup.ts";
import { auditPerson } from "./audit-person.ts";

type MeDeps = Pick<Deps, "db" | "clock" | "random" | "config">;

/** A person's own account, independent of any organization. */
export function meRoutes(routes: HttpRoutes, deps: MeDeps): void {
  routes.add("getMe", async ({ person, request }) => {
    const { userId, name, email, isTwoFactorOn } = person;
    const memberships = await listMemberships(deps.db, userId);
    const named = memberships.find((each) => each.organization_id === request.headers[ORGANIZATION_HEADER]);
    return {
      user: { id: userId, name, email, isTwoFactorOn, ...(await findSignInWays(deps.db, userId)) },
      organizations: memberships.map((each) => ({
        id: each.organization_id,
        name: each.name,
        role: each.role,
        plan: each.plan,
      })),
      current: (named ?? memberships[0])?.organization_id ?? null,
      canCreateOrganization: mayCreateOrganization(deps.config, memberships),
    };
  });

  routes.add("changeMe", async ({ person, body }) => {
    const { name } = requireFields({ name: checkName(body.name) });
    await updateUserName(deps.db, person.userId, { name, updated_at: deps.clock.now() });
    return null;
  });

  routes.add("disconnectOidc", async ({ person: { userId: id, email } }) => {
    await inTransaction(deps.db, async (db) => {
      if (!(await findSignInWays(db, id)).hasPassword)
        throw new ApiError("conflict", "Set a password first. Without one, you couldn't sign in any more.");
      const isGone = await deleteOidcAccounts(db, id);
      if (isGone) await auditPerson({ ...deps, db }, { user: { id, email }, action: "user.oidc_disconnected" });
    });
    return null;
  });

  sessionRoutes(routes, deps);
  newOrganizationRoute(routes, deps);
}

function sessionRoutes(routes: HttpRoutes, deps: MeDeps): void {
  routes.add("listSignIns", async ({ person: { userId, sessionId } }) => {
    const rows = await listSessions(deps.db, userId, deps.clock.now());
    return { data: rows.map((row) => toSignIn(row, sessionId)) };
  });

  routes.add("endOtherSignIns", async ({ person: { userId, email, sessionId } }) => {
    await inTransaction(deps.db, async (db) => {
      const count = await deleteOtherSessions(db, userId, sessionId);
      if (count > 0) await auditPerson({ ...deps, db }, { user: { id: userId, email }, action: "user.session_ended" });
    });
    return null;
  });

  routes.add("endSignIn", async ({ person: { userId, email }, params: { id } }) => {
    await inTransaction(deps.db, async (db) => {
      const isGone = isSessionId(id) && (await deleteSession(db, userId, id));
      if (!isGone) throw new ApiError("not_found", "This session has already ended.");
      await auditPerson({ ...deps, db }, { user: { id: userId, email }, action: "user.session_ended" });
    });
    return null;
  });
}

function newOrganizationRoute(routes: HttpRoutes, deps: MeDeps): void {
  routes.add("createOrganization", async ({ person: owner, body, request }) => {
    if (!mayCreateOrganization(deps.config, await listMemberships(deps.db, owner.userId)))
      throw new ApiError("forbidden", "Only owners and the operator can create organizations.");
    const { name, timeZone } = requireFields({ name: checkName(body.name), timeZone: checkTimeZone(body.timeZone) });
    const id = chooseId<OrganizationId>(deps, request, { owner: owner.userId, form: ORGANIZATION_ID });
    const wanted = { id, name, timeZone, owner };
    const most = deps.config.maxOrganizationsPerPerson;
    const made = await makeOnce(() =>
      inTransaction(deps.db, async (db) => {
        await createOrganization({ ...deps, db }, wanted);
        // Whoever creates and deletes organizations must not get another day's invitations with each.
        const deletedSince = new Date(deps.clock.now().getTime() - DAY_MS);
        if ((await countOwnedLocked(db, { ...owner, deletedSince })) > most)
          throw new ApiError("conflict", toTooMany(most));
        return id;
      }),
    );
    if (made === null && !(await isOrganization(deps.db, wanted))) throw new ApiError("conflict", MADE_BEFORE);
    return { id };
  });
}

const toTooMany = (most: number) =>
  `You can own at most ${most} organizations, and those you deleted in the last 24 hours count too. Delete one that is no longer needed and try again tomorrow, or ask the operator to raise MAX_ORGANIZATIONS_PER_PERSON.`;
const MADE_BEFORE = "Your first attempt already created this organization. Open it from the menu.";

async function isOrganization(
  db: Db,
  { id, name, timeZone }: { id: OrganizationId; name: string; timeZone: string },
): Promise<boolean> {
  const row = await findOrganization(db, id);
  return row !== null && row.name === name && row.time_zone === timeZone;
}

function mayCreateOrganization(config: Pick<Config, "signUp">, memberships: readonly Membership[]): boolean {
  return config.signUp === "open" || memberships.some(({ role }) => role === "owner");
}

function toSignIn(row: SessionRow, currentId: string): SignIn {
  return {
    id: row.id,
    browser: row.user_agent ?? "",
    isCurrent: row.id === currentId,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.updated_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}
