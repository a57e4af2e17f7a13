import { RawAttribution } from "#contract/attribution.ts";
import { IDENTIFIER_FIELDS } from "#contract/identifier-fields.ts";

/** Maximum length of a text; longer ones are truncated. Longer than any address that browsers and servers handle. */
export const ATTRIBUTION_TEXT_MAX = 2_048;
export const TOUCHES_MAX = 1_000_000;

const IDENTIFIERS: ReadonlySet<string> = new Set(IDENTIFIER_FIELDS);
const NAMES = Object.keys(RawAttribution.properties) as readonly (keyof RawAttribution)[];

/**
 * The usable part of the attribution that a browser sent. It can never fail an event or a booking: unknown fields and
 * fields of the wrong type are ignored, texts are truncated, over-long identifiers are dropped, and landingPage must be
 * a web address.
 */
export function readAttribution(value: unknown): RawAttribution {
  if (typeof value !== "object" || value === null) return {};
  const sent = value as Readonly<Record<string, unknown>>;
  const read: { -readonly [Name in keyof RawAttribution]: RawAttribution[Name] } = {};
  for (const name of NAMES) {
    const member = sent[name];
    if (name === "touches") {
      const touches = readTouches(member);
      if (touches !== null) read.touches = touches;
    } else if (typeof member === "string") {
      // Campaign names are truncated, identifiers are not: half an identifier would be wrong.
      if (member.length > ATTRIBUTION_TEXT_MAX && IDENTIFIERS.has(name)) continue;
      const text = toCleanText(member);
      if (text !== "" && (name !== "landingPage" || isWebAddress(text))) read[name] = text;
    }
  }
  return read;
}

/** Nothing that PostgreSQL cannot store. */
function toCleanText(text: string): string {
  const cut = text.length > ATTRIBUTION_TEXT_MAX ? text.slice(0, ATTRIBUTION_TEXT_MAX) : text;
  return cut.includes("\0") || !cut.isWellFormed() ? cut.replaceAll("\0", "").toWellFormed() : cut;
}

function readTouches(value: unknown): number | null {
  if (typeof value !== "number" || !(value >= 0)) return null;
  return Math.min(Math.floor(value), TOUCHES_MAX);
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}
