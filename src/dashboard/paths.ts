import { DASHBOARD_ADDRESS, ENTRY_PAGES } from "#contract/app/addresses.ts";

// Every address of the dashboard besides ENTRY_PAGES. paths.test.ts compares them with routes.tsx.

export const NEW_ORGANIZATION = `${DASHBOARD_ADDRESS}/new-organization`;

export type Paths = ReturnType<typeof pathsOf>;

/** Addresses of an organization's screens. They carry its id, so that links and tabs stay with that organization. */
export function pathsOf(organizationId: string) {
  const base = `${DASHBOARD_ADDRESS}/${organizationId}`;
  const below = (folder: string) => (id: string) => `${base}/${folder}/${encodeURIComponent(id)}`;
  return {
    start: base,
    analytics: `${base}/analytics`,
    bookings: `${base}/bookings`,
    bookingSources: `${base}/bookings/sources`,
    booking: below("bookings"),
    widgets: `${base}/widgets`,
    widget: below("widgets"),
    webhooks: `${base}/webhooks`,
    endpoint: below("webhooks"),
    deliveries: `${base}/deliveries`,
    delivery: below("deliveries"),
    keys: `${base}/keys`,
    connections: `${base}/connections`,
    members: `${base}/members`,
    audit: `${base}/audit`,
    settings: `${base}/settings`,
    profile: `${base}/profile`,
  };
}

/** Where to go after signing in. The text comes from a link that anyone can write, so only our own pages are accepted. */
export function toReturnPath(text: string): string {
  return /^\/app(\/|$)/.test(text) || text.startsWith(`${ENTRY_PAGES.invitation}?`) ? text : DASHBOARD_ADDRESS;
}
