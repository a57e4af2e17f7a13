// The contract's Limits table, and other limits that receivers and visitors notice. Retention periods are in plans.ts, the delivery
// log's days in webhooks/delivery.ts.

export const PAGE_SIZE_DEFAULT = 100;
export const PAGE_SIZE_MAX = 500;

export const WINDOW_DAYS_DEFAULT = 30;
export const WINDOW_DAYS_MAX = 730;

/**
 * How far the time of a signature may be from the receiver's. Receivers enforce it. The client library and the n8n node are packages
 * of their own and repeat it; their tests compare the two.
 */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

/** The time limit of an attempt, and the delay before each retry, unless the operator has set others. */
export const WEBHOOK_TIMEOUT_SECONDS_DEFAULT = 15;
export const RETRY_DELAYS_SECONDS_DEFAULT = [30, 60, 120, 240, 480, 960, 1_920, 3_600] as const;

/** An endpoint without a successful delivery for so long is turned off. */
export const ENDPOINT_FAILING_DAYS_MAX = 5;

/** What a visitor may enter, and what a page may fill in before. */
export const NOTES_LENGTH_MAX = 2_000;

export const CHANNELS_MAX = 12;
export const SOURCES_MAX = 25;
export const CAMPAIGNS_MAX = 25;

// Limits and periods of the dashboard API that its screens state or enforce too. Free of schemas, so that the dashboard's
// bundle stays free of TypeBox.

/** Not broader than what better-auth accepts at sign-in: a new account must be able to sign in again. */
export const EMAIL_PATTERN =
  "^\\s*[A-Za-z0-9_+-]+(?:['.][A-Za-z0-9_+-]+)*@(?:[A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,}\\s*$";
export const PASSWORD_LENGTH_MIN = 10;
export const PASSWORD_LENGTH_MAX = 128;
export const INVITATION_DAYS = 7;
export const RESET_LINK_MINUTES = 30;
export const SIGN_UP_LINK_MINUTES = 60;
/** In this time, an address gets at most one reset link, one link to sign up, and one invitation from each person. */
export const MAIL_PAUSE_MINUTES = 5;

export const LOGO_BYTES_MAX = 200 * 1024;
/** Base64 takes four characters for three bytes. */
export const LOGO_BODY_BYTES_MAX = Math.ceil(LOGO_BYTES_MAX * 1.4);

export const SEARCH_LENGTH_MAX = 200;

export const WIDGET_NAME_LENGTH_MAX = 100;
export const KEY_NAME_LENGTH_MAX = 100;
export const CONNECTION_NAME_LENGTH_MAX = 100;
export const SEGMENT_NAME_LENGTH_MAX = 60;
export const REPORT_LINK_NAME_LENGTH_MAX = 100;
