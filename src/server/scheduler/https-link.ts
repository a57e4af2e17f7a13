const LINK_LENGTH_MAX = 2_000;

/** Null unless it is https: links end up in emails, webhooks and pages, where `javascript:` would run. */
export function toHttpsLink(link: unknown): string | null {
  if (typeof link !== "string" || link.length > LINK_LENGTH_MAX) return null;
  return URL.parse(link)?.protocol === "https:" ? link : null;
}
