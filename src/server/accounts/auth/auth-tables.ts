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
