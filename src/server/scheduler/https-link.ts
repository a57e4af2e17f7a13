const LINK_LENGTH_MAX = 2_000;

/**
 * A link from a scheduling system, or null unless it is https. Links end up in emails, webhooks and pages, where a
 * `javascript:` address would run.
 */
export function toHttpsLink(link: unknown): string | null {
  if (typeof link !== "string" || link.length > LINK_LENGTH_MAX) return null;
  return URL.parse(link)?.protocol === "https:" ? link : null;
}
