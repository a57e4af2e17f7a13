// The read API's part of the contract's Limits table. The other limits: retention periods in plans.ts, the delivery log's
// days in delivery.ts, retries in WEBHOOK_RETRY_SCHEDULE (server/config.ts); receivers enforce the 300 seconds of a signature
// (sdk/src/verify-webhook.ts).

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 500;

export const WINDOW_DAYS_DEFAULT = 30;
export const WINDOW_DAYS_MAX = 730;

export const CHANNELS_MAX = 12;
export const SOURCES_MAX = 25;
export const CAMPAIGNS_MAX = 25;
