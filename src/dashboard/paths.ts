// Every address of the dashboard. The server prints the first four in links: see server/accounts.

export const SIGN_IN = "/sign-in";
export const SET_UP = "/setup";
export const RESET_PASSWORD = "/reset-password";
export const INVITATION = "/invitation";
export const FORGOT_PASSWORD = "/forgot-password";
export const SIGN_UP = "/sign-up";
export const HOME = "/app";
export const NEW_ORGANIZATION = "/app/new-organization";

export type Paths = ReturnType<typeof pathsOf>;

/** The addresses of one organization's screens: which one is shown stands in the address, so links and tabs keep it. */
export function pathsOf(organizationId: string) {
  const base = `${HOME}/${organizationId}`;
  const below = (folder: string) => (id: string) => `${base}/${folder}/${encodeURIComponent(id)}`;
  return {
    start: base,
    analytics: `${base}/analytics`,
    bookings: `${base}/bookings`,
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

/** Only addresses of our own are gone back to: what stands in a link may come from anybody. */
export function toReturnPath(text: string): string {
  return /^\/app(\/|$)/.test(text) || text.startsWith(`${INVITATION}?`) ? text : HOME;
}
