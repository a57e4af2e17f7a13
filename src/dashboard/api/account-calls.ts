import type { Static } from "typebox";
import type * as account from "#contract/app/account.ts";
import type { AuditPage } from "#contract/app/audit.ts";
import { APP_PREFIX } from "#contract/app/routes.ts";
import { send } from "./client.ts";

// Calls about people: signing in and out, one's own account, the organization and who belongs to it.

type Scope = { readonly organization: string; readonly signal?: AbortSignal };

/** Before signing in. */
export const entry = {
  options: (signal?: AbortSignal) =>
    send<account.SignInOptions>({ method: "GET", path: `${APP_PREFIX}/sign-in-options`, isEntry: true, signal }),
  setUp: (body: account.SetUpRequest) =>
    send<Static<typeof account.MadeOrganization>>({ method: "POST", path: `${APP_PREFIX}/setup`, body, isEntry: true }),
  lookUpInvitation: (token: string) =>
    send<Static<typeof account.InvitationPreview>>({
      method: "POST",
      path: `${APP_PREFIX}/invitations/look-up`,
      body: { token },
      isEntry: true,
    }),
  acceptInvitation: (body: account.InvitationAcceptance) =>
    send<Static<typeof account.JoinedOrganization>>({
      method: "POST",
      path: `${APP_PREFIX}/invitations/accept`,
      body,
      isEntry: true,
    }),
  /** `twoFactorRedirect`: the password was right, and a code is asked for next. */
  signIn: (body: { email: string; password: string }) =>
    postAuth<{ twoFactorRedirect?: boolean }>("sign-in/email", body, true),
  signInWithCode: (code: string) => postAuth("two-factor/verify-totp", { code }, true),
  signInWithRecoveryCode: (code: string) => postAuth("two-factor/verify-backup-code", { code }, true),
  /** Leads to the address of the OpenID Connect issuer. */
  signInWithOidc: (body: { callbackURL: string; errorCallbackURL: string }) =>
    postAuth<{ url: string }>("sign-in/social", { provider: "oidc", ...body }, true),
  signUp: (body: { name: string; email: string; password: string }) => postAuth("sign-up/email", body, true),
  requestPasswordReset: (email: string) => postAuth("request-password-reset", { email }, true),
  resetPassword: (body: { token: string; newPassword: string }) => postAuth("reset-password", body, true),
};

/** About whoever is signed in. */
export const person = {
  /** Nobody being signed in is an answer here, which shell/AppGate.tsx looks at. */
  me: (signal?: AbortSignal) => send<account.Me>({ method: "GET", path: `${APP_PREFIX}/me`, isEntry: true, signal }),
  rename: (name: string) => send<null>({ method: "PATCH", path: `${APP_PREFIX}/me`, body: { name } }),
  signIns: (signal?: AbortSignal) =>
    send<Static<typeof account.SignIns>>({ method: "GET", path: `${APP_PREFIX}/me/sessions`, signal }),
  endSignIn: (id: string) =>
    send<null>({ method: "DELETE", path: `${APP_PREFIX}/me/sessions/${encodeURIComponent(id)}` }),
  endOtherSignIns: () => send<null>({ method: "DELETE", path: `${APP_PREFIX}/me/sessions` }),
  createOrganization: (body: Static<typeof account.NewOrganization>, idempotencyKey: string) =>
    send<Static<typeof account.MadeOrganization>>({
      method: "POST",
      path: `${APP_PREFIX}/organizations`,
      body,
      idempotencyKey,
    }),
  signOut: () => postAuth("sign-out", {}, true),
  changePassword: (body: { currentPassword: string; newPassword: string }) => postAuth("change-password", body),
  enableTwoFactor: (password: string) =>
    postAuth<{ totpURI: string; backupCodes: string[] }>("two-factor/enable", { password }),
  confirmTwoFactor: (code: string) => postAuth("two-factor/verify-totp", { code }),
  disableTwoFactor: (password: string) => postAuth("two-factor/disable", { password }),
  makeRecoveryCodes: (password: string) =>
    postAuth<{ backupCodes: string[] }>("two-factor/generate-backup-codes", { password }),
};

/** About the organization that is shown. */
export const organization = {
  get: (scope: Scope) =>
    send<account.OrganizationShape>({ method: "GET", path: `${APP_PREFIX}/organization`, ...scope }),
  change: (scope: Scope, body: Static<typeof account.OrganizationChange>) =>
    send<account.OrganizationShape>({ method: "PATCH", path: `${APP_PREFIX}/organization`, body, ...scope }),
  members: (scope: Scope) =>
    send<Static<typeof account.MemberList>>({ method: "GET", path: `${APP_PREFIX}/members`, ...scope }),
  changeRole: (scope: Scope, { userId, ...body }: account.MemberChange & { userId: string }) =>
    send<null>({
      method: "PATCH",
      path: `${APP_PREFIX}/members/${encodeURIComponent(userId)}`,
      body,
      ...scope,
    }),
  removeMember: (scope: Scope, userId: string) =>
    send<null>({ method: "DELETE", path: `${APP_PREFIX}/members/${encodeURIComponent(userId)}`, ...scope }),
  invitations: (scope: Scope) =>
    send<Static<typeof account.InvitationList>>({ method: "GET", path: `${APP_PREFIX}/invitations`, ...scope }),
  invite: (scope: Scope, body: Static<typeof account.NewInvitation>) =>
    send<Static<typeof account.MadeInvitation>>({ method: "POST", path: `${APP_PREFIX}/invitations`, body, ...scope }),
  withdrawInvitation: (scope: Scope, id: string) =>
    send<null>({ method: "DELETE", path: `${APP_PREFIX}/invitations/${encodeURIComponent(id)}`, ...scope }),
  audit: (scope: Scope, query: { cursor?: string | undefined; limit: string }) =>
    send<AuditPage>({ method: "GET", path: `${APP_PREFIX}/audit`, query, ...scope }),
};

function postAuth<Answer = unknown>(path: string, body: unknown, isEntry = false): Promise<Answer> {
  return send<Answer>({ method: "POST", path: `/api/auth/${path}`, body, isEntry });
}
