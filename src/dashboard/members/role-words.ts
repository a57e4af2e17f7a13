import type { MemberRole } from "#contract/app/role.ts";

// What each role means, in words. The server's tables decide; this tells people.

export const ROLE_NAMES: Record<MemberRole, string> = {
  owner: "Owner",
  admin: "Admin",
  member: "Member",
  viewer: "Viewer",
};

export const ROLE_MEANINGS: Record<MemberRole, string> = {
  owner: "Everything, and decides who else is an owner.",
  admin: "Members, API keys, webhooks, connections, exports and settings.",
  member: "Widgets and bookings, with customers' data; tests webhooks and sends deliveries again.",
  viewer: "Looks at analytics and settings; sees nothing about customers.",
};
