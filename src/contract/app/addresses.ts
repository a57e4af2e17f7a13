// Addresses of the dashboard's pages outside of an organization. The server serves them and puts some of them into links.

export const ENTRY_PAGES = {
  signIn: "/sign-in",
  signUp: "/sign-up",
  setUp: "/setup",
  forgotPassword: "/forgot-password",
  resetPassword: "/reset-password",
  invitation: "/invitation",
  /** A report for people without an account. The token follows as #…, so that it is in no server's log. */
  sharedReport: "/shared",
} as const;

/** The dashboard itself: /app/{organization}/…. */
export const DASHBOARD_ADDRESS = "/app";

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1|\[::1\])$/;

/** Whether a host can be reached only from the computer it runs on. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
