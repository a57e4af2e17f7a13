// Addresses of the dashboard's pages outside of an organization. The server serves them and puts some of them into links.

export const ENTRY_PAGES = {
  signIn: "/sign-in",
  signUp: "/sign-up",
  setUp: "/setup",
  forgotPassword: "/forgot-password",
  resetPassword: "/reset-password",
  invitation: "/invitation",
} as const;

/** The dashboard itself: /app/{organization}/…. */
export const HOME = "/app";
