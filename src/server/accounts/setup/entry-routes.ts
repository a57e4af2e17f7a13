import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  CreatedOrganization,
  InvitationAcceptance,
  InvitationPreview,
  InvitationToken,
  JoinedOrganization,
  SetUpRequest,
  SignInOptions,
  SignUpLinkRequest,
  SignUpRequest,
} from "#contract/app/account.ts";
import type { Deps } from "../../deps.ts";
import { ApiError } from "../../http/api-error.ts";
import { checkEmail, checkName, checkTimeZone, requireFields } from "../../http/check-fields.ts";
import { assert } from "../../lib/assert.ts";
import type { Mail } from "../../mail/mail.ts";
import type { AccountsDeps } from "../accounts-deps.ts";
import { hashLinkToken } from "../auth/link-token.ts";
import { findPerson } from "../auth/member-auth.ts";
import { requireOwnOrigin } from "../auth/origin-check.ts";
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
export function entryRoutes(app: FastifyInstance, deps: EntryDeps): void {
  app.addHook("onRequest", async (request) => requireOwnOrigin(deps.config, request));

  app.get("/sign-in-options", { schema: { response: { 200: SignInOptions } } }, async () => ({
    isSetUpNeeded: !(await hasUsers(deps.db)),
    isSignUpOpen: deps.config.signUp === "open",
    hasOidc: deps.config.oidcIssuer !== null,
    defaultPlan: deps.config.defaultPlan,
  }));

  app.post<{ Body: SetUpRequest }>(
    "/setup",
    { schema: { body: SetUpRequest, response: { 201: CreatedOrganization } } },
    async (request, reply) => {
      deps.accounts.throttle.take(request);
      const { token, plan, ...body } = request.body;
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
          return reply.code(201).send({ id: outcome.organizationId });
        default:
          return outcome satisfies never;
      }
    },
  );

  signUpRoutes(app, deps);
  invitationRoutes(app, deps);
}

function signUpRoutes(app: FastifyInstance, deps: EntryDeps): void {
  app.post<{ Body: SignUpLinkRequest }>(
    "/sign-up/link",
    { schema: { body: SignUpLinkRequest, response: { 204: {} } } },
    async (request, reply) => {
      const { email } = requireFields({ email: checkEmail(request.body.email) });
      deps.accounts.throttle.take(request, { email, knownDevice: null });
      requireOpenSignUp(deps.config);
      // Not awaited: the time that sending takes would reveal whether the address has an account.
      void sendSignUpLink(deps, email).catch((error: unknown) =>
        deps.log.error("accounts.sign_up_link_not_sent", { error }),
      );
      return reply.code(204).send();
    },
  );

  app.post<{ Body: SignUpRequest }>(
    "/sign-up",
    { schema: { body: SignUpRequest, response: { 204: {} } } },
    async (request, reply) => {
      deps.accounts.throttle.take(request);
      requireOpenSignUp(deps.config);
      const { token, name, password } = request.body;
      const fields = requireFields({ name: checkName(name), password: checkPassword(password) });
      const outcome = await signUp(deps, { token, ...fields });
      switch (outcome.kind) {
        case "unknown_link":
          throw new ApiError("not_found", "This link has expired or has already been used. Request a new one.");
        case "has_account":
          throw new ApiError("conflict", "This address already has an account. Sign in.");
        case "done":
          await beginSession(deps, { request, reply, email: outcome.email, password });
          return reply.code(204).send();
        default:
          return outcome satisfies never;
      }
    },
  );
}

function requireOpenSignUp({ signUp: mode }: EntryDeps["config"]): void {
  if (mode === "closed") throw new ApiError("forbidden", "Sign-up is closed. Ask for an invitation.");
}

function invitationRoutes(app: FastifyInstance, deps: EntryDeps): void {
  app.post<{ Body: { token: string } }>(
    "/invitations/look-up",
    { schema: { body: InvitationToken, response: { 200: InvitationPreview } } },
    async (request) => {
      deps.accounts.throttle.take(request);
      const invitation = await findInvitation(deps.db, hashLinkToken(request.body.token), deps.clock.now());
      if (!invitation) throw unknownInvitation();
      return {
        organizationName: invitation.organization_name,
        email: invitation.email,
        role: invitation.role,
        expiresAt: invitation.expires_at.toISOString(),
      };
    },
  );

  app.post<{ Body: InvitationAcceptance }>(
    "/invitations/accept",
    { schema: { body: InvitationAcceptance, response: { 200: JoinedOrganization } } },
    async (request, reply) => {
      deps.accounts.throttle.take(request);
      const { token, name, password } = request.body;
      if (name === undefined && password === undefined) return await acceptAsPerson(deps, request, reply);
      const fields = requireFields({ name: checkName(name ?? ""), password: checkPassword(password ?? "") });
      const joined = requireJoined(await joinAsNewPerson(deps, { token, ...fields }));
      await beginSession(deps, { request, reply, email: joined.email, password: fields.password });
      return { organizationId: joined.organizationId };
    },
  );
}

async function acceptAsPerson(
  deps: EntryDeps,
  request: FastifyRequest<{ Body: InvitationAcceptance }>,
  reply: FastifyReply,
) {
  const person = await findPerson(deps, request, reply);
  if (!person) throw new ApiError("unauthorized", "Sign in, or enter a name and a password.");
  const { token } = request.body;
  const joined = requireJoined(await joinAsPerson(deps, { token, person }));
  return { organizationId: joined.organizationId };
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
