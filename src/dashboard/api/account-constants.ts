import type * as account from "#contract/app/account.ts";

// Constants of contract/app/account.ts, which brings its schemas along: the compiler keeps them the same.

export const ORGANIZATION_HEADER = "x-organization" satisfies typeof account.ORGANIZATION_HEADER;
export const PASSWORD_LENGTH_MIN = 10 satisfies typeof account.PASSWORD_LENGTH_MIN;
export const INVITATION_DAYS = 7 satisfies typeof account.INVITATION_DAYS;
export const RESET_LINK_MINUTES = 30 satisfies typeof account.RESET_LINK_MINUTES;
