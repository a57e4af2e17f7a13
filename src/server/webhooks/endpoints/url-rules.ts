import { isIP } from "node:net";
import { ENDPOINT_URL_LENGTH_MAX } from "#contract/webhooks/endpoint.ts";
import {
  type AddressRules,
  type AddressVerdict,
  judgeAddress,
  permits,
  type ResolveHost,
} from "../../sending/sending.ts";

// Checks an endpoint's URL when it is added or edited, so that a URL that could never work is refused with a reason. The
// guard in guarded-send.ts checks the target again at every send and does not rely on this. A name that resolves to a
// private address and one that does not exist get the same sentence, so nobody can probe the operator's network.

export type UrlVerdict =
  /** `url` is normalised. */
  | { readonly kind: "accepted"; readonly url: string }
  /** `reason` is a sentence for the person who typed the URL. */
  | { readonly kind: "refused"; readonly reason: string };

type Deps = AddressRules & { readonly resolve: ResolveHost };

export async function checkEndpointUrl(deps: Deps, text: string): Promise<UrlVerdict> {
  const parsed = parseEndpointUrl(text);
  if (parsed.kind === "refused") return parsed;
  const { url, protocol } = parsed;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = await findAddresses(deps.resolve, host);
  if (addresses.kind === "refused") return addresses;
  for (const address of addresses.found) {
    const verdict = judgeAddress(address, deps);
    if (!permits(verdict, protocol)) return refuse(toReason(verdict, host));
  }
  return { kind: "accepted", url: url.href };
}

type Refusal = Extract<UrlVerdict, { kind: "refused" }>;
type Parsed = { kind: "parsed"; url: URL; protocol: "http:" | "https:" };

/** Checks that need no network. `URL` turns 0x7f.1, 0177.0.0.1 and 2130706433 into 127.0.0.1. */
function parseEndpointUrl(text: string): Parsed | Refusal {
  const trimmed = text.trim();
  if (trimmed.length > ENDPOINT_URL_LENGTH_MAX) return refuse(TOO_LONG);
  const url = /^[a-z][a-z0-9+.-]*:\/\/[^\s\p{Cc}]+$/iu.test(trimmed) ? URL.parse(trimmed) : null;
  if (url === null) return refuse("The URL must be a full address, for example https://example.com/hooks.");
  const { protocol } = url;
  if (protocol !== "https:" && protocol !== "http:") return refuse("The URL must start with https://.");
  if (url.username !== "" || url.password !== "") return refuse("The URL must not contain a user name or password.");
  if (isShortened(trimmed, url)) return refuse("The URL is shortened (…). Enter the full URL.");
  if (trimmed.includes("#")) return refuse("The URL must not contain a fragment (the part after #).");
  // A trailing dot names the same host.
  url.hostname = url.hostname.replace(/\.$/, "");
  if (url.hostname === "" || url.hostname.split(".").includes(""))
    return refuse("The host name of the URL is not valid.");
  if (url.port === "0") return refuse("The port of the URL must not be 0.");
  return url.href.length > ENDPOINT_URL_LENGTH_MAX ? refuse(TOO_LONG) : { kind: "parsed", url, protocol };
}

/** Looks like a URL that we, or another service, showed only in part. */
function isShortened(text: string, { pathname }: URL): boolean {
  return text.includes("…") || pathname.toUpperCase().startsWith(encodeURI("/…"));
}

async function findAddresses(
  resolve: ResolveHost,
  host: string,
): Promise<{ kind: "found"; found: readonly string[] } | Refusal> {
  if (isIP(host) !== 0) return { kind: "found", found: [host] };
  const reply = await resolve(host);
  switch (reply.kind) {
    case "found":
      return { kind: "found", found: reply.addresses };
    case "not_found":
      return refuse(toNotPublic(host));
    case "unavailable":
      return refuse(`The host name ${host} could not be looked up just now. Try again in a moment.`);
    default:
      return reply satisfies never;
  }
}

function toReason(verdict: AddressVerdict, host: string): string {
  if (verdict.kind !== "blocked") {
    return "The URL must start with https://. Only servers in your own network may use http://, and only if the person who runs Bookflow allows it.";
  }
  if (isIP(host) === 0) return toNotPublic(host);
  return `This address belongs to ${verdict.range}, which can't be reached from the internet. ${PUBLIC_ONLY}`;
}

function toNotPublic(host: string): string {
  return `${host} can't be found on the internet. Check the spelling. ${PUBLIC_ONLY}`;
}

const PUBLIC_ONLY =
  "If the server is in your own network, ask the person who runs Bookflow to allow it (setting WEBHOOK_ALLOW_CIDRS).";
const TOO_LONG = `The URL must not be longer than ${ENDPOINT_URL_LENGTH_MAX} characters.`;

function refuse(reason: string): Refusal {
  return { kind: "refused", reason };
}
