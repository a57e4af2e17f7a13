import { EMAIL_IN_TEXT } from "#contract/analytics/attribution-fields.ts";

/** Longer paths are truncated; their beginning distinguishes pages. */
const PAGE_MAX = 512;
const REDACTED = "[redacted]";

/**
 * The page as it is stored: origin and path. The query (even if encoded), the fragment and the user name are removed,
 * because they may identify a person. Text that is not a web address gives "". Parts of the path that look like an
 * email address or a token are redacted, and a path that contains one of `secrets` is removed completely.
 */
export function toPage(address: string | undefined, secrets: readonly string[] = []): string {
  if (address === undefined) return "";
  const url = URL.parse(address);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return "";
  const path = url.pathname.replace(/%(?:25)*(?:3f|23).*$/i, "");
  if (secrets.some((secret) => path.includes(secret) || path.includes(encodeURIComponent(secret)))) return url.origin;
  return (url.origin + redact(path.slice(0, 4 * PAGE_MAX))).slice(0, PAGE_MAX);
}

/**
 * A visitor's whole address without what identifies a person: personal parts of the path are redacted, parameters with an
 * email address and a user name are removed. Campaign parameters and click ids stay.
 */
export function redactAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null) return EMAIL_IN_TEXT.test(address) ? "" : address;
  const path = redact(url.pathname);
  const parameters = [...url.searchParams];
  const kept = parameters.filter((parameter) => !parameter.some((text) => EMAIL_IN_TEXT.test(text)));
  const isUnchanged = path === url.pathname && kept.length === parameters.length && url.username === "";
  if (isUnchanged && !EMAIL_IN_TEXT.test(url.hash)) return address;
  url.pathname = path;
  url.search = new URLSearchParams(kept).toString();
  url.hash = "";
  url.username = "";
  url.password = "";
  return url.href;
}

/** Most paths have neither an @ nor a percent sign and need no decoding. */
const MAY_BE_PERSONAL = /[@%([0-9]|[A-Za-z]{16}|[a-z][A-Z]/;

function redact(path: string): string {
  if (!MAY_BE_PERSONAL.test(path)) return path;
  return path
    .split("/")
    .map((segment) => (looksPersonal(segment) ? REDACTED : segment))
    .join("/");
}

function looksPersonal(segment: string): boolean {
  const text = decode(segment);
  return (
    EMAIL_IN_TEXT.test(segment) || looksLikeToken(text) || (text !== segment && text.split("/").some(looksLikeToken))
  );
}

const DECODINGS_MAX = 6;

/** Removes percent-encoding as often as it was applied. */
function decode(segment: string): string {
  let text = segment;
  for (let round = 0; round < DECODINGS_MAX && text.includes("%"); round++) {
    const next = decodeOnce(text);
    if (next === text) break;
    text = next;
  }
  return text;
}

function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    // Invalid sequences stay as they are, and the rest is still decoded.
    return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}

const TOKEN_MIN = 16;
/** Digits in a row, as in telephone and customer numbers; the eight of a date are fewer. */
const LONG_NUMBER = /[0-9]{9}/;
/** Letters and digits in a row without any separator; no word is as long. */
const RUN_MAX = 48;
const CHANGES_MIN = 4;

/** Random text changes often between digits, small and capital letters; or it is a long number, or very long. */
function looksLikeToken(encoded: string): boolean {
  const text = encoded.replace(/%[0-9a-f]{2}/gi, "");
  let changes = 0;
  for (const run of text.match(/[A-Za-z0-9]+/g) ?? []) {
    if (run.length > RUN_MAX) return true;
    changes += countChanges(run);
  }
  if (LONG_NUMBER.test(text.replace(/[-_. +()]/g, ""))) return true;
  return text.length >= TOKEN_MIN && changes >= CHANGES_MIN;
}

/** A capital at the start of a word doesn't count as a change. */
function countChanges(run: string): number {
  let changes = 0;
  for (let i = 1; i < run.length; i++) {
    const [before, now] = [toSort(run.charCodeAt(i - 1)), toSort(run.charCodeAt(i))];
    if (before !== now && !(i === 1 && before === "capital" && now === "small")) changes += 1;
  }
  return changes;
}

function toSort(code: number): "digit" | "capital" | "small" {
  if (code <= 57) return "digit";
  return code <= 90 ? "capital" : "small";
}
