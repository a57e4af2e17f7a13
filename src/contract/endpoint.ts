// Kinds, states, limits and the signing secret of a webhook endpoint. Its identifiers are in ids.ts.

/** `webhook` receives the signed JSON event, the chat kinds a formatted card. */
export const ENDPOINT_KINDS = ["webhook", "teams", "slack"] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

export const ENDPOINT_STATUSES = ["enabled", "disabled"] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** `gone`: it answered 410. `failing`: too long without a success. */
export const ENDPOINT_DISABLED_REASONS = ["manual", "gone", "failing"] as const;
export type EndpointDisabledReason = (typeof ENDPOINT_DISABLED_REASONS)[number];

export const ENDPOINTS_PER_ORGANIZATION_MAX = 20;
/** Test events per organization and minute. */
export const ENDPOINT_TESTS_PER_MINUTE_MAX = 10;
export const ENDPOINT_URL_LENGTH_MAX = 2_048;

/** `whsec_` and 32 random bytes in base64url. The HMAC key is the whole text, prefix included. */
export const SIGNING_SECRET_PREFIX = "whsec_";
export const SIGNING_SECRET_BYTES = 32;
/** After a rotation, the old secret stays valid this long. */
export const SIGNING_SECRET_OVERLAP_HOURS = 24;
