import type { MemberRole } from "#contract/app/role.ts";

// Names and descriptions of the roles. contract/app/routes.ts decides what each role may do.

export const ROLE_NAMES: Record<MemberRole, string> = {
  owner: "Owner",
  admin: "Admin",
  member: "Member",
  viewer: "Viewer",
};

export const ROLE_MEANINGS: Record<MemberRole, string> = {
  owner: "Full access, including adding and removing owners.",
  admin: "Manages members, API keys, webhooks, connections, exports and settings.",
  member: "Works with widgets and bookings, including customer data. Can test webhooks and redeliver.",
  viewer: "Can view analytics, widgets, webhooks and settings, but not customer data.",
};
