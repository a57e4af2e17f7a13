import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { organization as about, entry, person } from "./account-calls.ts";

// What is read about people and the organization: keys and loaders. What belongs to an organization has its id first in the
// key, so that no answer is ever shown under another one. Other nouns have files of their own beside this one.

export const optionsQuery = queryOptions({
  queryKey: ["sign-in-options"],
  queryFn: ({ signal }) => entry.options(signal),
});

export const meKey = ["me"] as const;

export const meQuery = queryOptions({
  queryKey: meKey,
  queryFn: ({ signal }) => person.me(signal),
  // A tab that is looked at again may belong to nobody any more.
  refetchOnWindowFocus: "always",
});

export const signInsQuery = queryOptions({
  queryKey: ["sign-ins"],
  queryFn: ({ signal }) => person.signIns(signal),
});

export const organizationQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "organization"],
    queryFn: ({ signal }) => about.get({ organization, signal }),
  });

export const membersQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "members"],
    queryFn: ({ signal }) => about.members({ organization, signal }),
  });

export const invitationsQuery = (organization: string) =>
  queryOptions({
    queryKey: [organization, "invitations"],
    queryFn: ({ signal }) => about.invitations({ organization, signal }),
  });

const AUDIT_PAGE_SIZE = 50;

export const auditQuery = (organization: string) =>
  infiniteQueryOptions({
    queryKey: [organization, "audit"],
    queryFn: ({ signal, pageParam }) =>
      about.audit({ organization, signal }, { cursor: pageParam ?? undefined, limit: String(AUDIT_PAGE_SIZE) }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
