import type { SchedulingKind } from "#contract/scheduling.ts";
import type { Failure, WrongCredential } from "../scheduling-system.ts";

/** Tells the person who connects a system what is missing, and where to find it. */
export function describeFailure(failure: Failure, kind: SchedulingKind): string {
  const words = kind === "sandbox" ? null : WORDS[kind];
  const name = words?.name ?? "The system";
  if (failure.kind === "unavailable") {
    const isHostUnknown = NOT_FOUND_CODES.includes(failure.upstream?.failure ?? "");
    return isHostUnknown
      ? `${name} wasn't found on the internet. Check the URLs under Advanced. If the server is in your own network, ask the person who runs Bookflow to allow it (setting WEBHOOK_ALLOW_CIDRS).`
      : `${name} can't be reached right now. Try again in a minute.`;
  }
  switch (failure.reason) {
    case "credentials":
      if (failure.wrong) return WRONG[failure.wrong];
      return (failure.upstream?.status === 403 ? words?.permission : words?.credentials) ?? `${name} denied access.`;
    case "not_found":
      return words?.notFound ?? `${name} can't find this business.`;
    case "not_confirmed":
      return `${name} didn't confirm the booking at once.`;
    case "invalid":
      return `${name} rejected these settings. Check them under Advanced.`;
    case "version":
      return "This server's version of Cal.com isn't supported. It needs the bookings API of 2024-08-13 or newer.";
    default:
      return failure.reason satisfies never;
  }
}

/** An address in a private network, and a name that has none or only such addresses. */
const NOT_FOUND_CODES: readonly string[] = ["blocked_address", "dns_error"];

const WRONG: Readonly<Record<WrongCredential, string>> = {
  tenant: "Microsoft doesn't recognise this directory (tenant) ID. Copy it from the application's Overview page.",
  application:
    "This directory has no application with this ID. Copy the application (client) ID from the same Overview page as the directory ID.",
  secret:
    "The client secret is wrong or has expired. Copy the secret's value, not its ID, or create a new secret under Certificates & secrets.",
};

const WORDS = {
  "microsoft-bookings": {
    name: "Microsoft",
    credentials: "Microsoft doesn't accept this application. Check the IDs and the secret.",
    permission:
      "The application isn't allowed to read booking pages or make bookings. Add the application permissions Bookings.Read.All and BookingsAppointment.ReadWrite.All, then have an administrator grant consent.",
    notFound: "There is no shared booking page with this address. Copy it from the page's link.",
  },
  calcom: {
    name: "Cal.com",
    credentials: "Cal.com doesn't accept this API key. It may have expired or been deleted. Create a new one.",
    permission: "The API key's user isn't allowed to do this. Use a key from the user who owns the event types.",
    notFound: "This API URL isn't Cal.com's. Check it under Advanced.",
  },
  calendly: {
    name: "Calendly",
    credentials: "Calendly doesn't accept this token. It may have been revoked. Create a new one.",
    permission: "The token lacks a scope. Create one with users:read, event_types:read and scheduled_events:write.",
    notFound: "This API URL isn't Calendly's. Check it under Advanced.",
  },
} as const;
