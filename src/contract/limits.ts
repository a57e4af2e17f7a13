// The numbers of the contract's Limits table that the read API keeps, with their unit in their names. The others: retention
// periods in plans.ts, the delivery log's days in delivery.ts, retries in WEBHOOK_RETRY_SCHEDULE (server/config.ts); the 300
// seconds of a signature are for receivers to keep (sdk/src/verify-webhook.ts).

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 500;

export const WINDOW_DAYS_DEFAULT = 30;
export const WINDOW_DAYS_MAX = 730;

export const CHANNELS_MAX = 12;
export const SOURCES_MAX = 25;
export const CAMPAIGNS_MAX = 25;
