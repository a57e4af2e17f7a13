import type { AuditAction } from "#contract/app/audit.ts";
import { AUTH_ROUTES } from "#contract/app/routes.ts";

// The better-auth routes that can be reached, and the fields each accepts. A new version of better-auth can't add
// any automatically.

/** better-auth's name for the issuer in OIDC_ISSUER. It is part of the redirect URL. */
export const OIDC_PROVIDER = "oidc";

export type AllowedAuthRoute = {
  /** The path below /api/auth. */
  readonly path: string;
  /** The fields of the body that are passed on. */
  readonly fields: readonly string[];
  /** Fields with the path of a page to which the browser is sent afterwards. */
  readonly pages?: readonly string[];
  /** Always passed on, whatever the body says. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** The field that names an account; attempts are counted per account. */
  readonly account?: "email";
  readonly isThrottled?: true;
  /** The field to report when the password is not acceptable. */
  readonly passwordField?: string;
  /** The field with a code that works only once. */
  readonly codeField?: "code";
  /** Success invalidates all reset links sent before. */
  readonly voidsResetLinks?: true;
  /** The action in the audit log: `signedIn` if the caller had a session, `comingIn` if the call started one. */
  readonly audit?: { readonly signedIn?: AuditAction; readonly comingIn?: AuditAction };
};

export const ALLOWED_POST_ROUTES: readonly AllowedAuthRoute[] = [
  {
    path: AUTH_ROUTES.signIn.path,
    fields: ["email", "password", "rememberMe"],
    account: "email",
    isThrottled: true,
    audit: { comingIn: "user.signed_in" },
  },
  {
    path: AUTH_ROUTES.signInWithOidc.path,
    fields: ["callbackURL", "errorCallbackURL"],
    pages: ["callbackURL", "errorCallbackURL"],
    fixed: { provider: OIDC_PROVIDER },
    isThrottled: true,
  },
  {
    path: AUTH_ROUTES.connectOidc.path,
    fields: ["callbackURL", "errorCallbackURL"],
    pages: ["callbackURL", "errorCallbackURL"],
    fixed: { provider: OIDC_PROVIDER },
    isThrottled: true,
  },
  { path: AUTH_ROUTES.signOut.path, fields: [] },
  { path: AUTH_ROUTES.requestPasswordReset.path, fields: ["email"], account: "email", isThrottled: true },
  {
    path: AUTH_ROUTES.resetPassword.path,
    fields: ["token", "newPassword"],
    isThrottled: true,
    passwordField: "newPassword",
  },
  {
    path: AUTH_ROUTES.changePassword.path,
    fields: ["currentPassword", "newPassword"],
    fixed: { revokeOtherSessions: true },
    isThrottled: true,
    passwordField: "newPassword",
    voidsResetLinks: true,
    audit: { signedIn: "user.password_changed" },
  },
  { path: AUTH_ROUTES.enableTwoFactor.path, fields: ["password"], isThrottled: true },
  {
    path: AUTH_ROUTES.disableTwoFactor.path,
    fields: ["password"],
    isThrottled: true,
    audit: { signedIn: "user.two_factor_disabled" },
  },
  {
    path: AUTH_ROUTES.signInWithCode.path,
    fields: ["code"],
    codeField: "code",
    isThrottled: true,
    audit: { signedIn: "user.two_factor_enabled", comingIn: "user.signed_in" },
  },
  {
    path: AUTH_ROUTES.signInWithRecoveryCode.path,
    fields: ["code"],
    isThrottled: true,
    audit: { comingIn: "user.signed_in" },
  },
  {
    path: AUTH_ROUTES.createRecoveryCodes.path,
    fields: ["password"],
    isThrottled: true,
    audit: { signedIn: "user.recovery_codes_made" },
  },
];
