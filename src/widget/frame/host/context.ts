import type { RawAttribution } from "#contract/analytics/attribution.ts";
import { LINK_PARAMETERS, toLinkField } from "#contract/analytics/attribution-fields.ts";
import { NOTES_LENGTH_MAX } from "#contract/limits.ts";
import type { FrameContext, FromLoader, Prefill, Theme } from "#contract/widgets/frame-messages.ts";
import { parseAccentColor } from "#contract/widgets/widget-looks.ts";

// Parses what a host page sends. Nothing in it is trusted: anyone can write an address, and any page can post a message.

const FRAGMENT_LENGTH_MAX = 32_768;
const YEAR_10000_MS = 253_402_300_800_000;
const TEXT_LENGTH_MAX = 500;
const RADIUS_MAX = 32;
/** Names of fonts, quoted or not, separated by commas. */
const FONTS = /^[\p{L}\p{N} _,"'-]+$/u;

/** The fields that may hold any text. */
const ATTRIBUTION_TEXTS = [
  "landingPage",
  "referrer",
  ...LINK_PARAMETERS.map(toLinkField),
  "gaClientId",
  "fbp",
  "fbc",
  "currentPage",
] as const satisfies readonly (keyof RawAttribution)[];
const ADDRESS_LENGTH_MAX = 1_000;
/** A parameter has at most 300 characters; fbc is one with up to 20 before it (`fb.1.` and a time). */
const PARAMETER_LENGTH_MAX = 320;

export function parseContext(fragment: string): FrameContext {
  const text = fragment.replace(/^#/, "");
  if (text === "" || text.length > FRAGMENT_LENGTH_MAX) return {};
  try {
    return toContext(JSON.parse(decodeURIComponent(text)));
  } catch {
    // An anchor or a broken address, so there is no host page.
    return {};
  }
}

function toContext(value: unknown): FrameContext {
  const given = toRecord(value);
  const hostOrigin = parseOrigin(given["hostOrigin"]);
  const locale = parseLocale(given["locale"]);
  const frame = parseText(given["frame"], TEXT_LENGTH_MAX);
  const font = parseText(given["font"], TEXT_LENGTH_MAX);
  return {
    ...(frame === null ? {} : { frame }),
    ...(hostOrigin === null ? {} : { hostOrigin }),
    mode: given["mode"] === "popup" ? "popup" : "inline",
    ...(locale === null ? {} : { locale }),
    ...(font === null || !FONTS.test(font) ? {} : { font }),
    ...parseWishes(given),
  };
}

/** What a host page may change after the frame has opened. */
export function parseWishes(value: unknown): FromLoader {
  const given = toRecord(value);
  const service = parseText(given["service"], TEXT_LENGTH_MAX);
  return {
    ...(service === null ? {} : { service }),
    ...(given["theme"] === undefined ? {} : { theme: parseTheme(given["theme"]) }),
    ...(given["prefill"] === undefined ? {} : { prefill: parsePrefill(given["prefill"]) }),
    ...(given["attribution"] === undefined ? {} : { attribution: parseAttribution(given["attribution"]) }),
  };
}

export function parseTheme(value: unknown): Theme {
  const given = toRecord(value);
  const { accent, mode, radius } = given;
  const color = typeof accent === "string" ? parseAccentColor(accent) : null;
  return {
    ...(color === null ? {} : { accent: color }),
    ...(mode === "light" || mode === "dark" || mode === "auto" ? { mode } : {}),
    ...(typeof radius === "number" && radius >= 0 ? { radius: Math.min(radius, RADIUS_MAX) } : {}),
  };
}

function parsePrefill(value: unknown): Prefill {
  const given = toRecord(value);
  const prefill: Prefill = {};
  for (const name of ["name", "email", "phone", "notes"] as const) {
    const text = parseText(given[name], name === "notes" ? NOTES_LENGTH_MAX : TEXT_LENGTH_MAX);
    if (text !== null) prefill[name] = text;
  }
  return prefill;
}

function parseAttribution(value: unknown): RawAttribution {
  const given = toRecord(value);
  const attribution: RawAttribution = {};
  for (const name of ATTRIBUTION_TEXTS) {
    const isAddress = name === "landingPage" || name === "referrer" || name === "currentPage";
    const text = parseText(given[name], isAddress ? ADDRESS_LENGTH_MAX : PARAMETER_LENGTH_MAX);
    if (text !== null) attribution[name] = text;
  }
  // The server rejects a booking with an invalid time or count.
  const firstSeenAt = typeof given["firstSeenAt"] === "string" ? Date.parse(given["firstSeenAt"]) : Number.NaN;
  if (firstSeenAt > 0 && firstSeenAt < YEAR_10000_MS) attribution.firstSeenAt = new Date(firstSeenAt).toISOString();
  const touches = given["touches"];
  if (Number.isSafeInteger(touches) && (touches as number) >= 0) attribution.touches = touches as number;
  return attribution;
}

function parseOrigin(value: unknown): string | null {
  if (typeof value !== "string" || !URL.canParse(value)) return null;
  const { origin, protocol } = new URL(value);
  return origin === value && /^https?:$/.test(protocol) ? origin : null;
}

function parseLocale(value: unknown): string | null {
  if (typeof value !== "string") return null;
  try {
    // Drop extensions, which could ask for other digits or another calendar.
    return new Intl.Locale(value).baseName;
  } catch {
    return null;
  }
}

/** No person types longer values, so they are dropped rather than cut. */
function parseText(value: unknown, lengthMax: number): string | null {
  return typeof value === "string" && value !== "" && value.length <= lengthMax ? value : null;
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
