import { isLoopback } from "#contract/app/addresses.ts";

const LINK_LENGTH_MAX = 2_048;

/**
 * Links of bookings and widgets end up in pages, emails and webhooks, so they must be https: a `javascript:` link would run
 * there. Plain http passes only where Bookflow itself is served that way (BASE_URL): on the same host, or on this machine.
 */
export function isSafeLink(text: string, baseUrl: string): boolean {
  if (text.length > LINK_LENGTH_MAX || /[\s\p{Cc}]/u.test(text)) return false;
  const [link, base] = [URL.parse(text), URL.parse(baseUrl)];
  if (link?.protocol === "https:") return true;
  return (
    link?.protocol === "http:" &&
    base?.protocol === "http:" &&
    (link.host === base.host || (isLoopback(link.hostname) && isLoopback(base.hostname)))
  );
}
