import type { IncomingHttpHeaders } from "node:http";
import type { RawAttribution } from "#contract/attribution.ts";
import type { Config } from "../../config.ts";
import type { VisitClass } from "../record/touch.ts";
import { honourPrivacySignal } from "./attribution.ts";
import { listClickIds } from "./classify-source.ts";
import { VisitClassifier } from "./classify-visit.ts";
import { createFindCountry, type FindCountry } from "./country.ts";
import { toPage } from "./page.ts";
import { UserAgents } from "./user-agent.ts";

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
