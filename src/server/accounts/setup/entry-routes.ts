import type { FastifyReply, FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/errors/api-error.ts";
import { checkEmail, checkName, checkTimeZone, requireFields } from "../../http/errors/check-fields.ts";
import { assert } from "../../lib/assert.ts";
import type { Mail } from "../../mail/mail.ts";
import type { AccountsDeps } from "../accounts-deps.ts";
import { hashLinkToken } from "../auth/link-token.ts";
import { findPerson } from "../auth/member-auth.ts";
import type { HttpRoutes } from "../auth/route-table.ts";
import { checkPassword } from "../check-fields.ts";
import { findInvitation } from "../members/invitation-queries.ts";
import { type JoinOutcome, joinAsNewPerson, joinAsPerson } from "../members/invitations.ts";
import { hasUsers } from "../queries.ts";
import { setUp } from "./setup.ts";
import { sendSignUpLink, signUp } from "./sign-up.ts";

type EntryDeps = Pick<Deps, "db" | "clock" | "random" | "config" | "log"> & {
  readonly accounts: AccountsDeps;
  readonly mail: Mail;
};

/** Routes that need no session: ways to sign in, setup of the first owner, sign-up, and invitations. */
export function entryRoutes(routes: HttpRoutes, deps: EntryDeps): void {
  routes.add("listSignInOptions", async () => ({
    isSetUpNeeded: !(await hasUsers(deps.db)),
    isSignUpOpen: deps.config.signUp === "open",
    hasOidc: deps.config.oidcIssuer !== null,
    defaultPlan: deps.config.defaultPlan,
  }));

  routes.add("setUp", async ({ body, request, reply }) => {
    deps.accounts.throttle.take(request);
    const { token, plan } = body;
    const fields = requireFields({
      name: checkName(body.name),
      email: checkEmail(body.email),
      password: checkPassword(body.password),
      organizationName: checkName(body.organizationName),
      timeZone: checkTimeZone(body.timeZone),
    });
    const outcome = await setUp(deps, { token, ...(plan && { plan }), ...fields });
    switch (outcome.kind) {
      case "set_up_already":
        throw new ApiError("conflict", "Bookflow is already set up. Sign in.");
      case "unknown_link":
        throw new ApiError("not_found", "This setup link isn't valid. Restart Bookflow to get a new one.");
      case "done":
        await beginSession(deps, { request, reply, ...fields });
        return { id: outcome.organizationId };
      default:
        return outcome satisfies never;
    }
  });

  signUpRoutes(routes, deps);
  invitationRoutes(routes, deps);
}

function signUpRoutes(routes: HttpRoutes, deps: EntryDeps): void {
  routes.add("requestSignUpLink", async ({ body, request }) => {
    const { email } = requireFields({ email: checkEmail(body.email) });
    deps.accounts.throttle.take(request, { email, knownDevice: null });
    requireOpenSignUp(deps.config);
    // Not awaited: the time that sending takes would reveal whether the address has an account.
    void sendSignUpLink(deps, email).catch((error: unknown) =>
      deps.log.error("accounts.sign_up_link_not_sent", { error }),
    );
    return null;
  });

  routes.add("signUp", async ({ body, request, reply }) => {
    deps.accounts.throttle.take(request);
    requireOpenSignUp(deps.config);
    const { token, name, password } = body;
    const fields = requireFields({ name: checkName(name), password: checkPassword(password) });
    const outcome = await signUp(deps, { token, ...fields });
    switch (outcome.kind) {
      case "unknown_link":
        throw new ApiError("not_found", "This link has expired or has already been used. Request a new one.");
      case "has_account":
        throw new ApiError("conflict", "This address already has an account. Sign in.");
      case "done":
        await beginSession(deps, { request, reply, email: outcome.email, password });
        return null;
      default:
        return outcome satisfies never;
    }
  });
}

function requireOpenSignUp({ signUp: mode }: EntryDeps["config"]): void {
  if (mode === "closed") throw new ApiError("forbidden", "Sign-up is closed. Ask for an invitation.");
}

function invitationRoutes(routes: HttpRoutes, deps: EntryDeps): void {
  routes.add("lookUpInvitation", async ({ body, request }) => {
    deps.accounts.throttle.take(request);
    const invitation = await findInvitation(deps.db, hashLinkToken(body.token), deps.clock.now());
    if (!invitation) throw unknownInvitation();
    return {
      organizationName: invitation.organization_name,
      email: invitation.email,
      role: invitation.role,
      expiresAt: invitation.expires_at.toISOString(),
    };
  });

  routes.add("acceptInvitation", async ({ body: { token, name, password }, request, reply }) => {
    deps.accounts.throttle.take(request);
    if (name === undefined && password === undefined) {
      const person = await findPerson(deps, request, reply);
      if (!person) throw new ApiError("unauthorized", "Sign in, or enter a name and a password.");
      const { organizationId } = requireJoined(await joinAsPerson(deps, { token, person }));
      return { organizationId };
    }
    const fields = requireFields({ name: checkName(name ?? ""), password: checkPassword(password ?? "") });
    const { organizationId, email } = requireJoined(await joinAsNewPerson(deps, { token, ...fields }));
    await beginSession(deps, { request, reply, email, password: fields.password });
    return { organizationId };
  });
}

function requireJoined(outcome: JoinOutcome): Extract<JoinOutcome, { kind: "joined" }> {
  switch (outcome.kind) {
    case "joined":
      return outcome;
    case "unknown_link":
      throw unknownInvitation();
    case "other_address":
      throw new ApiError("forbidden", "This invitation is for another email address. Sign in with that address.");
    case "has_account":
      throw new ApiError("conflict", "This address already has an account. Sign in to accept the invitation.");
    default:
      return outcome satisfies never;
  }
}

function unknownInvitation(): ApiError {
  return new ApiError("not_found", "This invitation has expired, or was already used or revoked. Ask for a new one.");
}

async function beginSession(
  deps: EntryDeps,
  {
    request,
    reply,
    email,
    password,
  }: { request: FastifyRequest; reply: FastifyReply; email: string; password: string },
): Promise<void> {
  const userAgent = request.headers["user-agent"] ?? "";
  const cookies = await deps.accounts.auth.signIn({ email, password, userAgent });
  assert(cookies, "the password was set a moment ago");
  reply.header("set-cookie", cookies);
}
