import { KNOWN_SOURCES, type KnownSource } from "./source-tables.ts";

// Hosts match whole or at a label boundary, names match whole: netflix.com is not x.com, and threads is not "thre" with "ads".
// Each lookup costs one Map read per label of the host.

const byHost = new Map(KNOWN_SOURCES.flatMap((known) => known.hosts.map((host) => [host, known] as const)));
const byApp = new Map(KNOWN_SOURCES.flatMap((known) => (known.apps ?? []).map((app) => [app, known] as const)));
const byName = new Map(
  KNOWN_SOURCES.flatMap((known) =>
    [known.source, ...(known.aliases ?? []), ...(known.apps ?? [])].map((name) => [name, known] as const),
  ),
);
const byPaidName = new Map(
  KNOWN_SOURCES.flatMap((known) => (known.paidAliases ?? []).map((name) => [name, known] as const)),
);

/** How large sites own a host per country: google.com, google.de, google.co.uk, google.com.br, google.cat. */
const COUNTRY_SUFFIX = /\.(?:com|cat|(?:com?\.)?[a-z]{2})$/;
const HOST_SHAPE = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/;
const HOST_MAX_LENGTH = 253;

/** The longest entry wins, so that mail.google.com and gemini.google.com don't match google.*. */
export function findByHost(host: string): KnownSource | null {
  const countrySuffix = COUNTRY_SUFFIX.exec(host)?.[0];
  const find = (name: string) =>
    byHost.get(name) ??
    (countrySuffix === undefined ? undefined : byHost.get(`${name.slice(0, -countrySuffix.length)}.*`));
  const whole = find(`=${host.replace(/^www\./, "")}`);
  if (whole) return whole;
  for (const suffix of dotSuffixes(host)) {
    const known = find(suffix);
    if (known) return known;
  }
  return null;
}

export function findByApp(packageId: string): KnownSource | null {
  return byApp.get(packageId) ?? null;
}

/** The meaning of a lower-cased utm_source: a known spelling, a known host, or a known spelling followed by "ads". */
export function findByName(name: string): { known: KnownSource; isPaid: boolean } | null {
  const known = byName.get(name) ?? (hasHostShape(name) ? findByHost(name) : null);
  if (known) return { known, isPaid: false };
  const paid = byPaidName.get(name) ?? byName.get(withoutAdSuffix(name) ?? "");
  return paid ? { known: paid, isPaid: true } : null;
}

/** Lower-case labels separated by dots, at least two. */
export function hasHostShape(text: string): boolean {
  return text.length <= HOST_MAX_LENGTH && HOST_SHAPE.test(text);
}

/** Whether the host is one of the entries or below one of them. */
export function isHostIn(host: string, entries: ReadonlySet<string>): boolean {
  for (const suffix of dotSuffixes(host)) {
    if (entries.has(suffix)) return true;
  }
  return false;
}

/** a.b.example, b.example; never just the top-level domain. */
export function* dotSuffixes(host: string): Generator<string> {
  for (let rest = host, dot = rest.indexOf("."); dot !== -1; rest = rest.slice(dot + 1), dot = rest.indexOf(".")) {
    yield rest;
  }
}

function withoutAdSuffix(name: string): string | null {
  const ending = ["ads", "ad"].find((text) => name.endsWith(text));
  if (ending === undefined) return null;
  const stem = name.slice(0, -ending.length);
  return /[-_ ]$/.test(stem) ? stem.slice(0, -1) : stem;
}
