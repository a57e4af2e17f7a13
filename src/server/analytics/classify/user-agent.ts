import { isBot } from "isbot";
import type { Device } from "#contract/dimensions.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { toDevice } from "./device.ts";

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
