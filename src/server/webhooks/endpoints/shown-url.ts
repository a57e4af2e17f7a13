const SHOWN_END_LENGTH = 4;

/** A chat URL is a password: only its host and last characters are stored in plain text and shown. */
export function toShortUrl(url: string): string {
  return `${new URL(url).origin}/…${url.slice(-SHOWN_END_LENGTH)}`;
}

/** The endpoint's description, or its host. The rest of the URL may be a password. */
export function toEndpointName({ description, url }: { description: string; url: string }): string {
  return description === "" ? new URL(url).host : description;
}

/** For viewers: the path or query of any URL may contain a password. */
export function toShownOrigin({ url }: { url: string }): string {
  return `${new URL(url).origin}/…`;
}
