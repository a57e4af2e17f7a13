// Sessions keep only this description of the user agent, so that people recognise their own.

const BROWSERS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const SYSTEMS: readonly (readonly [mark: RegExp, name: string])[] = [
  [/\b(iPhone|iPad|iPod)\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** For example "Firefox on Linux". A description is returned unchanged, because a renewed session passes its own in again. */
export function describeBrowser(userAgent: string): string {
  if (DESCRIPTIONS.has(userAgent)) return userAgent;
  const browser = BROWSERS.find(([mark]) => mark.test(userAgent))?.[1];
  const system = SYSTEMS.find(([mark]) => mark.test(userAgent))?.[1];
  if (browser === undefined) return system ?? UNKNOWN;
  return system === undefined ? browser : `${browser} on ${system}`;
}

const UNKNOWN = "Unknown browser";
const systems = SYSTEMS.map(([, name]) => name);
const browsers = BROWSERS.map(([, name]) => name);
const DESCRIPTIONS: ReadonlySet<string> = new Set([
  UNKNOWN,
  ...systems,
  ...browsers,
  ...browsers.flatMap((browser) => systems.map((system) => `${browser} on ${system}`)),
]);
