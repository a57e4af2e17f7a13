// The scheduling systems that a widget can book in. A widget without a connection books in the sandbox.

const SCHEDULING_KINDS = ["sandbox", "microsoft-bookings", "calcom"] as const;
export type SchedulingKind = (typeof SCHEDULING_KINDS)[number];

/** Those that an organization connects to, with credentials of its own. */
export const CONNECTION_KINDS = ["microsoft-bookings", "calcom"] as const satisfies readonly SchedulingKind[];
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

export const CONNECTIONS_PER_ORGANIZATION_MAX = 50;

/** Free times are asked for at most this far at once. */
export const SLOT_RANGE_DAYS_MAX = 31;
