import type { IncomingHttpHeaders } from "node:http";
import { isBot } from "isbot";
import type { RawAttribution } from "#contract/analytics/attribution.ts";
import type { Device } from "#contract/analytics/dimensions.ts";
import type { Config } from "../../config.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import type { VisitClass } from "../record/hit.ts";
import { honourPrivacySignal } from "./attribution.ts";
import { listClickIds } from "./classify-source.ts";
import { VisitClassifier } from "./classify-visit.ts";
import { createFindCountry, type FindCountry } from "./country.ts";
import { toPage } from "./page.ts";

/** What a request says about its visit. The IP address and the user agent are not passed on from here. */
export type ReadVisit = VisitClass & { page: string; device: string; country: string; isBot: boolean; isSpam: boolean };

export class VisitReader {
  readonly #classifier = new VisitClassifier();
  readonly #userAgents = new UserAgents();
  readonly #findCountry: FindCountry;

  constructor(config: Pick<Config, "countryHeader">) {
    this.#findCountry = createFindCountry(config);
  }

  /** `raw` is as it was sent: without its click ids, they could not be found in the page's path. */
  read(
    request: { readonly headers: IncomingHttpHeaders; readonly ip: string },
    sent: { raw: RawAttribution; page: string; ownHosts: readonly string[] },
  ): ReadVisit {
    const page = toPage(sent.page, listClickIds(sent.raw));
    const { device, isBot } = this.#userAgents.read(request.headers["user-agent"]);
    const raw = honourPrivacySignal(request.headers, sent.raw);
    const visit = this.#classifier.classify({ raw, page, ownHosts: sent.ownHosts });
    return { ...visit, page, device, isBot, country: this.#findCountry(request) };
  }
}

/** The only user agent data that leaves this file. */
type Visitor = { readonly isBot: boolean; readonly device: Device };

const USER_AGENTS_KEPT = 5_000;
/** Real user agents have 100 to 300 characters; the rest of a longer one is ignored. */
const USER_AGENT_MAX = 512;

class UserAgents {
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
