import { isBot } from "isbot";
import { RecentMap } from "../../lib/recent-map.ts";
import { type Device, toDevice } from "./device.ts";

/** All that is ever known of a user agent outside this file. */
type Visitor = { readonly isBot: boolean; readonly device: Device };

const USER_AGENTS_KEPT = 5_000;
/** Real ones have 100 to 300; the rest of a longer one is not looked at. */
const USER_AGENT_MAX = 512;

export class UserAgents {
  readonly #known = new RecentMap<string, Visitor>(USER_AGENTS_KEPT);

  /** Without the header it is nobody's robot: proxies that protect privacy leave it out. */
  read(header: string | undefined): Visitor {
    const userAgent = header === undefined ? "" : header.slice(0, USER_AGENT_MAX);
    const known = this.#known.get(userAgent);
    if (known) return known;
    const visitor = { isBot: isBot(userAgent), device: toDevice(userAgent) };
    this.#known.set(userAgent, visitor);
    return visitor;
  }
}
