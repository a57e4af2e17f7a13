import { isBot } from "isbot";
import type { Device } from "#contract/dimensions.ts";
import { RecentMap } from "../../lib/recent-map.ts";

/** The only user agent data that leaves this file. */
type Visitor = { readonly isBot: boolean; readonly device: Device };

const USER_AGENTS_KEPT = 5_000;
/** Real user agents have 100 to 300 characters; the rest of a longer one is ignored. */
const USER_AGENT_MAX = 512;

export class UserAgents {
  readonly #known = new RecentMap<string, Visitor>(USER_AGENTS_KEPT);

  /** A missing header doesn't mean a bot: proxies that protect privacy remove it. */
  read(header: string | undefined): Visitor {
    const userAgent = header === undefined ? "" : header.slice(0, USER_AGENT_MAX);
    const known = this.#known.get(userAgent);
    if (known) return known;
    const visitor = { isBot: isBot(userAgent), device: toDevice(userAgent) };
    this.#known.set(userAgent, visitor);
    return visitor;
  }
}

// The kind of device, from the user agent. A few rules are enough, because only four kinds are stored. A full parser would be a
// hundred times as long and slow, and would need updates for details that nobody uses.

/** Read from the top; the first match decides. */
const RULES: readonly (readonly [Device, RegExp])[] = [
  // Televisions, consoles and watches belong to none of the three, although most also say Android, Linux or Windows.
  ["other", /smart-?tv|\btv\b|googletv|hbbtv|netcast|web0s|bravia|\baft[a-z]|crkey|roku|viera|philipstv/i],
  ["other", /playstation|xbox|nintendo|oculusbrowser|\bwatch\b|watchos/i],
  [
    "tablet",
    /ipad|tablet|playbook|kindle|silk(?!.*\bmobile\b)|\bkf[a-z]{2,5}\b|\bsm-[tx]\d|\bgt-p\d|nexus (?:7|9|10)\b/i,
  ],
  ["mobile", /iphone|ipod|windows phone|iemobile|blackberry|\bbb10\b|opera mini|kaios|symbian|series60|webos/i],
  ["mobile", /\bmobile\b|mobi\b/i],
  // Android without the word Mobile is what Google asks makers of tablets to send.
  ["tablet", /android/i],
  ["desktop", /windows nt|macintosh|cros |x11|linux|bsd/i],
];

export function toDevice(userAgent: string): Device {
  return RULES.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? "other";
}
