// An appointment as a calendar file (RFC 5545).

export type CalendarEntry = {
  readonly uid: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly stampMs: number;
  readonly title: string;
  readonly description: string;
  readonly location: string | null;
  readonly url: string | null;
};

const LINE_BYTES_MAX = 75;

export function toIcs(entry: CalendarEntry): string {
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Bookflow//Booking//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    "BEGIN:VEVENT",
    `UID:${escapeText(entry.uid)}`,
    `DTSTAMP:${toUtcStamp(entry.stampMs)}`,
    `DTSTART:${toUtcStamp(entry.startMs)}`,
    `DTEND:${toUtcStamp(entry.endMs)}`,
    `SUMMARY:${escapeText(entry.title)}`,
    `DESCRIPTION:${escapeText(entry.description)}`,
    ...(entry.location === null ? [] : [`LOCATION:${escapeText(entry.location)}`]),
    // A URL is not a TEXT value, so nothing in it is escaped.
    ...(entry.url === null ? [] : [`URL:${entry.url}`]),
    "END:VEVENT",
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

/** 20261102T080000Z */
export function toUtcStamp(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, "\\$&").replace(/\r\n|\r|\n/g, "\\n");
}

/** Folds lines after 75 bytes, never within a character; continuation lines start with a space. */
function fold(line: string): string {
  const encoder = new TextEncoder();
  let folded = "";
  let bytes = 0;
  for (const character of line) {
    const size = encoder.encode(character).length;
    if (bytes + size > LINE_BYTES_MAX) {
      folded += "\r\n ";
      bytes = 1;
    }
    folded += character;
    bytes += size;
  }
  return folded;
}
