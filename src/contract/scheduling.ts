import { BASE58 } from "./ids.ts";

// The scheduling systems that a widget can book in. A widget without a connection books in the sandbox.

export const SCHEDULING_KINDS = ["sandbox", "microsoft-bookings", "calcom"] as const;
export type SchedulingKind = (typeof SCHEDULING_KINDS)[number];

/** Those that an organization connects to, with credentials of its own. */
export const CONNECTION_KINDS = ["microsoft-bookings", "calcom"] as const satisfies readonly SchedulingKind[];
export type ConnectionKind = (typeof CONNECTION_KINDS)[number];

export type ConnectionId = string & { readonly brand: "ConnectionId" };

export const CONNECTION_ID = { prefix: "conn_", alphabet: BASE58, length: 16 } as const;

export function parseConnectionId(text: string): ConnectionId | null {
  const letters = text.slice(CONNECTION_ID.prefix.length);
  const hasForm =
    text.startsWith(CONNECTION_ID.prefix) &&
    letters.length === CONNECTION_ID.length &&
    [...letters].every((letter) => CONNECTION_ID.alphabet.includes(letter));
  return hasForm ? (text as ConnectionId) : null;
}

export const CONNECTIONS_PER_ORGANIZATION_MAX = 50;

/** Free times are asked for at most this far at once. */
export const SLOT_RANGE_DAYS_MAX = 31;
