/** `webhook` receives the signed JSON event, the chat kinds a formatted card. */
export const ENDPOINT_KINDS = ["webhook", "teams", "slack"] as const;
export type EndpointKind = (typeof ENDPOINT_KINDS)[number];

export const ENDPOINT_STATUSES = ["enabled", "disabled"] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** `gone`: it answered 410. `failing`: too long without a success. */
export const ENDPOINT_DISABLED_REASONS = ["manual", "gone", "failing"] as const;
export type EndpointDisabledReason = (typeof ENDPOINT_DISABLED_REASONS)[number];

/** Test events per organization per minute. */
export const ENDPOINT_TESTS_PER_MINUTE_MAX = 10;
export const ENDPOINT_URL_LENGTH_MAX = 2_048;

/** `whsec_` and 33 random bytes in base64. The contract's HMAC key is the whole text; Standard Webhooks' is the bytes. */
export const SIGNING_SECRET_PREFIX = "whsec_";
export const SIGNING_SECRET_BYTES = 33;
/** Choices for how long the old secret stays valid after a rotation. 0: it has leaked, and stops working immediately. */
export const SECRET_OVERLAP_HOURS = [0, 1, 24, 168] as const;
export type SecretOverlapHours = (typeof SECRET_OVERLAP_HOURS)[number];
export const SECRET_OVERLAP_HOURS_DEFAULT = 24;

/** Event types that an endpoint can choose. Chats can't get booking.erased. */
export const CHOSEN_EVENT_TYPES = [
  "booking.created",
  "booking.cancelled",
  "booking.rescheduled",
  "booking.erased",
] as const;
export type ChosenEventType = (typeof CHOSEN_EVENT_TYPES)[number];

/** What an endpoint's bookings can be limited to, besides widgets. */
export const ENDPOINT_FILTERS = ["services", "channels", "sources", "campaigns"] as const;
export type EndpointFilterName = (typeof ENDPOINT_FILTERS)[number];
/** Null: all of them. */
export type EndpointFilters = Readonly<Record<EndpointFilterName, readonly string[] | null>>;
export const ENDPOINT_FILTER_VALUE_LENGTH_MAX = 200;
export const FILTER_TRIAL_EVENTS = 100;

export const ENDPOINT_PERIODS = ["24h", "7d", "30d"] as const;
export type EndpointPeriod = (typeof ENDPOINT_PERIODS)[number];

export const ENDPOINT_HEADERS_MAX = 10;
export const ENDPOINT_HEADER_NAME_LENGTH_MAX = 100;
export const ENDPOINT_HEADER_VALUE_LENGTH_MAX = 1_000;
/** Requests per minute that an endpoint's rate limit can be set to. */
export const ENDPOINT_RATE_MAX = 6_000;
