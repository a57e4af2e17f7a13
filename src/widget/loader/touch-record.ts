import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { CLICK_ID_PARAMETERS } from "#contract/analytics/attribution-fields.ts";
import { DAY_MS, MINUTE_MS } from "#contract/durations.ts";
import { readAddress, type Tags } from "../address.ts";

// First-touch attribution as pure functions: what a page load tells us, how it changes what we know of the visitor, and
// which fields are sent. A touch is a page load with different campaign parameters than the previous touch, or one that
// came from another site after half an hour without page loads. Reloads and moving around on the site are not touches.

export type TouchRecord = {
  firstSeenAt: string;
  landingPage: string;
  referrer: string;
  touches: number;
  /** From the first touch that had any. */
  first: Tags;
  last: Tags;
  seen: string;
  /** The last click on an ad of Meta, in the format of its cookie: `fb.1.`, a time in milliseconds, and the fbclid. */
  fbc?: string;
  /** The visitor consented. Stored, so that the page owner need not ask again on the next page. */
  granted?: true;
};

type Arrival = { page: string; referrer: string; at: Date };

const RECORD_MS = 180 * DAY_MS;
const IDLE_MS = 30 * MINUTE_MS;

export function recordArrival(known: TouchRecord | undefined, arrival: Arrival): TouchRecord {
  const at = arrival.at.toISOString();
  const { whole, tags } = readAddress(arrival.page);
  const referrer = readReferrer(arrival).place;
  const { fbclid } = tags;
  const before: TouchRecord = known ?? {
    firstSeenAt: at,
    landingPage: whole,
    referrer,
    touches: 0,
    first: tags,
    last: {},
    seen: at,
  };
  const isTouch = hasAny(tags)
    ? JSON.stringify(before.last) !== JSON.stringify(tags)
    : referrer && +arrival.at - Date.parse(before.seen) >= IDLE_MS;
  return {
    ...before,
    seen: at,
    ...((isTouch || !known) && {
      touches: before.touches + 1,
      last: tags,
      first: hasAny(before.first) ? before.first : tags,
    }),
    // The same click again, for example by the Back button, keeps its time.
    ...(fbclid && !before.fbc?.endsWith(fbclid) && { fbc: `fb.1.${+arrival.at}.${fbclid}` }),
  };
}

export function toRawAttribution(
  { landingPage, referrer, firstSeenAt, touches, first }: TouchRecord,
  currentPage: string,
): RawAttribution {
  return { landingPage, referrer, firstSeenAt, touches, ...first, currentPage: readAddress(currentPage).whole };
}

/** Without consent: only the campaign and the referring host of this page view. */
export function toPageAttribution(arrival: Arrival, currentPage: string): RawAttribution {
  return {
    referrer: readReferrer(arrival).root,
    ...readAddress(arrival.page, CLICK_ID_PARAMETERS).tags,
    currentPage: readAddress(currentPage, CLICK_ID_PARAMETERS).whole,
  };
}

/** Undefined if the record is not ours or too old; throws if it is damaged. */
export function parseRecord(text: string | null, now: Date): TouchRecord | undefined {
  // Parsing null gives null.
  const record: TouchRecord | null = JSON.parse(text as string);
  return record && Math.abs(+now - Date.parse(record.firstSeenAt)) < RECORD_MS ? record : undefined;
}

/** `_ga` is GA1.1.123.456, of which 123.456 is the client. Meta's cookie may be missing although there was a click. */
export function readAnalyticsIds(cookies: string, { fbc = "" }: TouchRecord): RawAttribution {
  const read = (form: RegExp) => form.exec(cookies)?.[1] ?? "";
  return {
    gaClientId: read(/\b_ga=GA\d\.[\d-]+\.(\d+\.\d+)/),
    fbp: read(/\b_fbp=([\w.-]+)/),
    fbc: read(/\b_fbc=([\w.-]+)/) || fbc,
  };
}

/** A page of the same site is not a source. */
function readReferrer({ page, referrer }: Arrival): { place: string; root: string } {
  const from = readAddress(referrer);
  return from.site === readAddress(page).site ? readAddress("") : from;
}

function hasAny(tags: Tags): boolean {
  return JSON.stringify(tags) !== "{}";
}
