import type { AuditAction } from "#contract/app/audit.ts";

// What of better-auth can be reached. It has many more addresses and fields; a new version of it opens none of them here.

/** What better-auth calls the issuer of OIDC_ISSUER; part of its redirect address. */
export const OIDC_PROVIDER = "oidc";

export type AuthDoor = {
  /** After /api/auth/. */
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
  /** What is written to the audit log: done by somebody who is signed in, or by coming in. */
  readonly audit?: { readonly signedIn?: AuditAction; readonly comingIn?: AuditAction };
};

export const POST_DOORS: readonly AuthDoor[] = [
  {
    path: "sign-in/email",
    fields: ["email", "password", "rememberMe"],
    account: "email",
    isThrottled: true,
    audit: { comingIn: "user.signed_in" },
  },
  {
    path: "sign-in/social",
    fields: ["callbackURL", "errorCallbackURL"],
    pages: ["callbackURL", "errorCallbackURL"],
    fixed: { provider: OIDC_PROVIDER },
    isThrottled: true,
  },
  { path: "sign-out", fields: [] },
  {
    path: "sign-up/email",
    fields: ["name", "email", "password"],
    account: "email",
    isThrottled: true,
    isSignUp: true,
    passwordField: "password",
  },
  { path: "request-password-reset", fields: ["email"], account: "email", isThrottled: true },
  { path: "reset-password", fields: ["token", "newPassword"], isThrottled: true, passwordField: "newPassword" },
  {
    path: "change-password",
    fields: ["currentPassword", "newPassword"],
    fixed: { revokeOtherSessions: true },
    isThrottled: true,
    passwordField: "newPassword",
    audit: { signedIn: "user.password_changed" },
  },
  { path: "two-factor/enable", fields: ["password"], isThrottled: true },
  {
    path: "two-factor/disable",
    fields: ["password"],
    isThrottled: true,
    audit: { signedIn: "user.two_factor_disabled" },
  },
  {
    path: "two-factor/verify-totp",
    fields: ["code"],
    isThrottled: true,
    audit: { signedIn: "user.two_factor_enabled", comingIn: "user.signed_in" },
  },
  {
    path: "two-factor/verify-backup-code",
    fields: ["code"],
    isThrottled: true,
    audit: { comingIn: "user.signed_in" },
  },
  {
    path: "two-factor/generate-backup-codes",
    fields: ["password"],
    isThrottled: true,
    audit: { signedIn: "user.recovery_codes_made" },
  },
];
