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
export const HOME = "/app";
