import { hkdfSync } from "node:crypto";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { genericOAuth } from "better-auth/plugins/generic-oauth";
import { twoFactor } from "better-auth/plugins/two-factor";
import { ENTRY_PAGES } from "#contract/app/addresses.ts";
import { AUTH_PREFIX } from "#contract/app/routes.ts";
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, RESET_LINK_MINUTES } from "#contract/limits.ts";
import type { Config } from "../../config.ts";
import type { Db } from "../../db/connections/pool.ts";
import type { Log } from "../../lib/log/log.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";
import type { Random } from "../../lib/secrets/random.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Mail } from "../../mail/mail.ts";
import { makeIdFor } from "../account-ids.ts";
import { hasInvitationFor } from "../members/invitation-queries.ts";
import { OIDC_PROVIDER } from "./auth-allow-list.ts";
import { describeBrowser } from "./describe-browser.ts";
import { noteFault } from "./library-faults.ts";
import { listOwnOrigins } from "./origin-check.ts";
import { hashPassword, verifyPassword } from "./password.ts";
import { sendRequestedMail } from "./requested-mail.ts";
import { hashResetLink, RESET_LINK } from "./verification-queries.ts";

const SECRET_BYTES = 32;
const DAY_SECONDS = 24 * 3600;

export type AuthParts = {
  config: Config;
  db: Db;
  clock: Clock;
  random: Random;
  log: Log;
  mail: Mail;
  secretKey: string;
  /** Called after a password was reset through a link. */
  onPasswordReset: (user: { id: string; email: string }) => Promise<void>;
  /** Called after an identity of the OpenID Connect issuer was connected to a person's account. */
  onOidcConnected: (userId: string) => Promise<void>;
};

/** better-auth with our tables, our password hash and our mail, with every feature off that the product does not need. */
export function createBetterAuth(parts: AuthParts) {
  const { config, db, random, log, secretKey } = parts;
  const isHttps = config.baseUrl.startsWith("https:");
  return betterAuth({
    appName: "Bookflow",
    baseURL: new URL(config.baseUrl).origin,
    basePath: AUTH_PREFIX,
    secret: Buffer.from(hkdfSync("sha256", secretKey, "bookflow", "accounts", SECRET_BYTES)).toString("base64url"),
    telemetry: { enabled: false },
    // Errors are thrown to our own handler, which logs them without their contents. Refusals stay responses.
    onAPIError: { errorURL: `${config.baseUrl}/sign-in`, throw: true },
    logger: { level: "error", log: logLibraryFault(log) },
    trustedOrigins: (request) => listOwnOrigins(config, request?.headers.get("host")),
    database: { db, type: "postgres", transaction: true },
    rateLimit: { enabled: false },
    advanced: {
      // The prefix stops other hosts, subdomains included, from setting our cookies. Browsers accept it over https only.
      cookiePrefix: isHttps ? "__Host-bookflow" : "bookflow",
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isHttps, httpOnly: true, sameSite: "lax", path: "/" },
      ipAddress: { disableIpTracking: true },
      database: { generateId: ({ model }) => makeIdFor(random, model), validateSchema: false, joins: true },
    },
    user: {
      modelName: "users",
      fields: USER_FIELDS,
      validateUserInfo: checkNewUser(parts),
    },
    session: {
      modelName: "user_sessions",
      fields: SESSION_FIELDS,
      expiresIn: 7 * DAY_SECONDS,
      updateAge: DAY_SECONDS,
      // A session ended elsewhere must end at once, so every request reads it from the database.
      cookieCache: { enabled: false },
    },
    account: {
      modelName: "user_accounts",
      fields: ACCOUNT_FIELDS,
      // Without OIDC_TRUSTED, only a person who is signed in can connect an identity to their account. Either way, both the issuer
      // and we must have verified the same address.
      accountLinking: { enabled: true, disableImplicitLinking: config.oidcTrusted === "no" },
    },
    verification: {
      modelName: "user_verifications",
      fields: VERIFICATION_FIELDS,
      storeIdentifier: {
        default: "hashed",
        overrides: { [RESET_LINK]: { hash: async (identifier) => hashResetLink(identifier) } },
      },
    },
    databaseHooks: toDatabaseHooks(parts),
    emailAndPassword: toPasswordOptions(parts),
    plugins: [
      toTwoFactor(config),
      ...(config.oidcIssuer === null ? [] : [genericOAuth({ config: [toOidc(config, config.oidcIssuer)] })]),
    ],
  });
}

type HookContext = Parameters<ReturnType<typeof twoFactor>["hooks"]["after"][number]["matcher"]>[0];
type UserCheck = NonNullable<NonNullable<BetterAuthOptions["user"]>["validateUserInfo"]>;
type PasswordOptions = NonNullable<BetterAuthOptions["emailAndPassword"]>;
type LogLine = NonNullable<NonNullable<BetterAuthOptions["logger"]>["log"]>;

/**
 * The library's messages may quote what a visitor sent. The log leaves them out of the errors among its arguments; without an error,
 * the frames say which of the library's lines reported the fault.
 */
function logLibraryFault(log: Log): LogLine {
  return (_level, _message, ...others) => {
    const error = others.find((other) => other instanceof Error);
    noteFault(error);
    log.error("accounts.library_failed", { error: error ?? new LoggableError("The library reported no error") });
  };
}

/** Who may join through an identity provider: anyone while sign-up is open, otherwise only invited people. */
function checkNewUser({ config, db, clock }: AuthParts): UserCheck {
  return async ({ user, source }) => {
    if (source.action !== "create-user" || source.method !== "oauth") return;
    if (user.emailVerified !== true) return { error: "email_not_verified" };
    if (config.signUp === "open") return;
    const isInvited = await hasInvitationFor(db, String(user.email), clock.now());
    return isInvited ? undefined : { error: "not_invited" };
  };
}

function toPasswordOptions(parts: AuthParts): PasswordOptions {
  const { random, onPasswordReset } = parts;
  return {
    enabled: true,
    // setup/sign-up.ts creates accounts, for addresses that are proven.
    disableSignUp: true,
    minPasswordLength: PASSWORD_LENGTH_MIN,
    maxPasswordLength: PASSWORD_LENGTH_MAX,
    password: { hash: (password) => hashPassword({ random }, password), verify: verifyPassword },
    resetPasswordTokenExpiresIn: RESET_LINK_MINUTES * 60,
    revokeSessionsOnPasswordReset: true,
    // Not awaited: the time that sending takes would reveal whether the account exists.
    sendResetPassword: async ({ user, token }) => {
      void sendResetLink(parts, user.email, token).catch((error: unknown) =>
        parts.log.error("accounts.reset_link_not_sent", { error }),
      );
    },
    onPasswordReset: async ({ user }) => await onPasswordReset(user),
  };
}

/** Earlier links stay valid, so that a stranger who requests links can't invalidate the one a person is about to use. */
async function sendResetLink(parts: AuthParts, to: string, token: string): Promise<void> {
  await sendRequestedMail(parts, { kind: "reset", to }, async () => ({
    subject: "Reset your password",
    text: `Someone asked to reset the password for your Bookflow account. Choose a new one with the link below. It works once and expires in ${RESET_LINK_MINUTES} minutes. If it wasn't you, you can ignore this email: your password stays as it is.`,
    action: "Reset your password",
    link: `${parts.config.baseUrl}${ENTRY_PAGES.resetPassword}?token=${encodeURIComponent(token)}`,
  }));
}

/** better-auth asks for a code only after a password. Here, it also asks after single sign-on, unless the operator skips it. */
function toTwoFactor(config: Pick<Config, "oidcTwoFactor">) {
  const plugin = twoFactor({ issuer: "Bookflow", schema: TWO_FACTOR_SCHEMA });
  if (config.oidcTwoFactor === "skip") return plugin;
  const after = plugin.hooks.after.map((hook) => ({
    ...hook,
    matcher: (context: HookContext) => hook.matcher(context) || context.path === "/callback/:id",
  }));
  return { ...plugin, hooks: { after } };
}

function toOidc(config: Pick<Config, "oidcClientId" | "oidcClientSecret">, issuer: string) {
  return {
    providerId: OIDC_PROVIDER,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    clientId: config.oidcClientId ?? "",
    clientSecret: config.oidcClientSecret ?? "",
    scopes: ["openid", "email", "profile"],
    requireIdTokenVerification: true,
    disableProviderLogout: true,
    // better-auth takes any text as verified, even "false".
    mapProfileToUser: ({ email_verified: claim }: Record<string, unknown>) => ({
      emailVerified: claim === true || claim === "true",
    }),
  };
}

async function withoutTokens<Account extends object>(account: Account) {
  return { data: { ...account, accessToken: null, refreshToken: null, idToken: null } };
}

function toDatabaseHooks({ onOidcConnected }: AuthParts): BetterAuthOptions["databaseHooks"] {
  return {
    account: {
      // The issuer's tokens have done their work once we know who signed in, so they are not stored.
      create: {
        before: withoutTokens,
        after: async ({ providerId, userId }) => {
          if (providerId === OIDC_PROVIDER) await onOidcConnected(userId);
        },
      },
      update: { before: withoutTokens },
    },
    session: {
      create: {
        before: async (session) => ({
          data: { ...session, ipAddress: null, userAgent: describeBrowser(session.userAgent ?? "") },
        }),
      },
    },
  };
}

const TIMES = { createdAt: "created_at", updatedAt: "updated_at" } as const;

export const USER_FIELDS = { emailVerified: "email_verified", ...TIMES } as const;

export const SESSION_FIELDS = {
  userId: "user_id",
  expiresAt: "expires_at",
  ipAddress: "ip_address",
  userAgent: "user_agent",
  ...TIMES,
} as const;

export const ACCOUNT_FIELDS = {
  userId: "user_id",
  providerId: "provider_id",
  accountId: "account_id",
  accessToken: "access_token",
  refreshToken: "refresh_token",
  idToken: "id_token",
  accessTokenExpiresAt: "access_token_expires_at",
  refreshTokenExpiresAt: "refresh_token_expires_at",
  ...TIMES,
} as const;

export const VERIFICATION_FIELDS = { expiresAt: "expires_at", ...TIMES } as const;

export const TWO_FACTOR_SCHEMA = {
  user: { fields: { twoFactorEnabled: "two_factor_enabled" } },
  twoFactor: {
    modelName: "user_two_factors",
    fields: {
      userId: "user_id",
      backupCodes: "backup_codes",
      failedVerificationCount: "failed_verification_count",
      lockedUntil: "locked_until",
    },
  },
} as const;
