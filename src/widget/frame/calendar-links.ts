import { type CalendarEntry, toUtcStamp } from "./ics.ts";

// Pages of web calendars that open with the appointment filled in. The visitor still has to save it there.

export function toGoogleLink(entry: CalendarEntry): string {
  return `https://calendar.google.com/calendar/render?${new URLSearchParams({
    action: "TEMPLATE",
    text: entry.title,
    dates: `${toUtcStamp(entry.startMs)}/${toUtcStamp(entry.endMs)}`,
    details: entry.description,
    location: entry.location ?? "",
  })}`;
}

export function toOutlookLink(entry: CalendarEntry): string {
  return `https://outlook.live.com/calendar/0/deeplink/compose?${new URLSearchParams({
    path: "/calendar/action/compose",
    rru: "addevent",
    subject: entry.title,
    startdt: new Date(entry.startMs).toISOString(),
    enddt: new Date(entry.endMs).toISOString(),
    body: entry.description,
    location: entry.location ?? "",
  })}`;
}

/** The business's thank-you page, which learns the reference and nothing else. */
export function toThankYouAddress(thankYouUrl: string, reference: string): string {
  const address = new URL(thankYouUrl);
  address.searchParams.set("reference", reference);
  return address.href;
}
