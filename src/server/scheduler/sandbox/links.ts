import { timingSafeEqual } from "node:crypto";
import {
  BASE62,
  parseReference,
  parseWidgetId,
  REFERENCE,
  type Reference,
  WIDGET_ID,
  type WidgetId,
} from "#contract/ids.ts";
import { type Random, randomText } from "../../lib/secrets/random.ts";

// The token of a link holds the letters of the widget's id and of the reference, by which the row is found, and a secret,
// which is compared in constant time: widget (12) | reference (6) | secret (24 of 62 letters, 142 bits).

const SECRET_LENGTH = 24;

type LinkToken = { readonly widgetId: WidgetId; readonly reference: Reference; readonly secret: string };

export function makeLinkSecret(random: Random): string {
  return randomText(random, BASE62, SECRET_LENGTH);
}

function toLinkToken(token: LinkToken): string {
  return `${token.widgetId.slice(WIDGET_ID.prefix.length)}${token.reference.slice(REFERENCE.prefix.length)}${token.secret}`;
}

export function parseLinkToken(text: string): LinkToken | null {
  const secretStart = WIDGET_ID.length + REFERENCE.length;
  if (text.length !== secretStart + SECRET_LENGTH) return null;
  const widgetId = parseWidgetId(WIDGET_ID.prefix + text.slice(0, WIDGET_ID.length));
  const reference = parseReference(REFERENCE.prefix + text.slice(WIDGET_ID.length, secretStart));
  return widgetId && reference ? { widgetId, reference, secret: text.slice(secretStart) } : null;
}

export function isSameSecret(given: string, kept: string | null): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(kept ?? "")];
  return a.length === b.length && timingSafeEqual(a, b);
}

export function toManageUrl(baseUrl: string, token: LinkToken): string {
  return `${baseUrl}/manage/${toLinkToken(token)}`;
}

export function toJoinUrl(baseUrl: string, token: LinkToken): string {
  return `${baseUrl}/meet/${toLinkToken(token)}`;
}
