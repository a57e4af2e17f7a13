// Every number of the contract's Limits table, with its unit in its name. Retention periods are in plans.ts.

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 500;

export const WINDOW_DAYS_DEFAULT = 30;
export const WINDOW_DAYS_MAX = 730;

export const CHANNELS_MAX = 12;
export const SOURCES_MAX = 25;
export const CAMPAIGNS_MAX = 25;
