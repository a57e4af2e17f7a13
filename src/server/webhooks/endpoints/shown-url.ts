import type { EndpointKind } from "#contract/endpoint.ts";

const SHOWN_END_LENGTH = 4;

/** The URL of a chat is a password to it: of that, the host and the last characters are shown. */
export function toShownUrl({ kind, url }: { kind: EndpointKind; url: string }): string {
  if (kind === "webhook") return url;
  return `${new URL(url).origin}/…${url.slice(-SHOWN_END_LENGTH)}`;
}

/** What it is called, as in the dashboard: its description, or its host. What follows the host may be a password. */
export function toEndpointName({ description, url }: { description: string; url: string }): string {
  return description === "" ? new URL(url).host : description;
}

/** To those who only look: the path or query of any receiver may hold a password. */
export function toShownOrigin({ url }: { url: string }): string {
  return `${new URL(url).origin}/…`;
}
