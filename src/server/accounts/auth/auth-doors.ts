import type { AuditAction } from "#contract/app/audit.ts";
import { AUTH_ROUTES } from "#contract/app/routes.ts";

// What of better-auth can be reached. It has many more addresses and fields; a new version of it opens none of them here.

/** What better-auth calls the issuer of OIDC_ISSUER; part of its redirect address. */
export const OIDC_PROVIDER = "oidc";

export type AuthDoor = {
  /** Below /api/auth. */
  readonly path: string;
  /** What is handed on of the body. */
  readonly fields: readonly string[];
  /** Fields that name a page of ours, to which the browser is sent afterwards. */
  readonly pages?: readonly string[];
  /** Handed on whatever the body says. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** The body's field that names an account, whose attempts are counted. */
  readonly account?: "email";
  readonly isThrottled?: true;
  readonly isSignUp?: true;
  /** Faults of a password are about this field. */
  readonly passwordField?: string;
  /** The field with a code that must work only once. */
  readonly codeField?: "code";
  /** Reset links that were mailed before become void. */
  readonly voidsResetLinks?: true;
  /** What is written to the audit log: done by somebody who is signed in, or by coming in. */
  readonly audit?: { readonly signedIn?: AuditAction; readonly comingIn?: AuditAction };
};

export const POST_DOORS: readonly AuthDoor[] = [
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
  { path: AUTH_ROUTES.signOut.path, fields: [] },
  {
    path: AUTH_ROUTES.signUp.path,
    fields: ["name", "email", "password"],
    account: "email",
    isThrottled: true,
    isSignUp: true,
    passwordField: "password",
  },
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
