import { isIP } from "node:net";
import { assert } from "../lib/assert.ts";

// Which addresses webhooks and requests to scheduling systems may reach. Addresses are judged by their 16 bytes, never by
// their spelling. An IPv4 address is kept as ::ffff:a.b.c.d, so 10.0.0.1 and ::ffff:a00:1 are the same. IPv6 is refused unless
// it is global unicast; IPv4 unless it is outside every special range. On networks with DNS64, an IPv4-only host also has an
// address under a NAT64 prefix, which leads to the IPv4 address inside it: that one is judged. The operator names the prefixes,
// because a prefix of one's own looks like any other network, and in 64:ff9b:1::/48 only its length tells where the IPv4 address
// is: a wrong guess would let a public address stand for a private one. The other forms that carry an IPv4 address (6to4,
// Teredo, IPv4-compatible) are refused as whole ranges.

export type Cidr = { readonly bytes: Uint8Array; readonly prefixBits: number };

export type AddressRules = {
  /** Private networks that may be reached. */
  readonly allow: readonly Cidr[];
  /** What the network translates to IPv4. */
  readonly nat64: readonly Cidr[];
};

export type AddressVerdict =
  | { readonly kind: "public" }
  /** Listed in WEBHOOK_ALLOW_CIDRS. Only these may be reached over plain http. */
  | { readonly kind: "allowed" }
  /** `range` completes the phrase "an address in". */
  | { readonly kind: "blocked"; readonly range: string };

export function judgeAddress(address: string, { allow, nat64 }: AddressRules): AddressVerdict {
  const parsed = parseAddress(address);
  if (parsed === null) return { kind: "blocked", range: "an unknown format" };
  const prefix = nat64.find((cidr) => contains(cidr, parsed));
  const bytes = prefix ? toMappedIpv4(readEmbeddedIpv4(parsed, prefix)) : parsed;
  if (allow.some((cidr) => contains(cidr, bytes))) return { kind: "allowed" };
  if (!contains(MAPPED_IPV4, bytes) && !contains(GLOBAL_UNICAST, bytes)) {
    const special = IPV6_OUTSIDE_GLOBAL.find(([cidr]) => contains(cidr, bytes));
    return { kind: "blocked", range: special?.[1] ?? "a reserved IPv6 range" };
  }
  const blocked = BLOCKED.find(([cidr]) => contains(cidr, bytes));
  return blocked === undefined ? { kind: "public" } : { kind: "blocked", range: blocked[1] };
}

/** Nothing is sent to a host unless every one of its addresses is permitted. */
export function permits(verdict: AddressVerdict, protocol: "http:" | "https:"): boolean {
  return verdict.kind === "allowed" || (verdict.kind === "public" && protocol === "https:");
}

/** `10.0.0.0/8`, `::1/128` or a single address; null otherwise. */
export function parseCidr(text: string): Cidr | null {
  const [address = "", prefix, ...rest] = text.trim().split("/");
  const bytes = parseAddress(address);
  if (bytes === null || rest.length > 0) return null;
  const addressBits = isIP(address) === 4 ? 32 : 128;
  if (prefix === undefined) return { bytes, prefixBits: 128 };
  const prefixBits = /^[0-9]{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  return prefixBits <= addressBits ? { bytes, prefixBits: prefixBits + (128 - addressBits) } : null;
}

/** As RFC 6052, section 2.2, says: right after the prefix, but never in byte 8. */
function readEmbeddedIpv4(bytes: Uint8Array, { prefixBits }: Cidr): number[] {
  return [...bytes.subarray(prefixBits / 8)].filter((_, index) => prefixBits / 8 + index !== 8).slice(0, 4);
}

/** 16 bytes; null if the text is not an address. Zone identifiers (fe80::1%eth0) are not accepted. */
export function parseAddress(text: string): Uint8Array | null {
  const family = text.includes("%") ? 0 : isIP(text);
  if (family === 4) return toMappedIpv4(toIpv4Bytes(text));
  return family === 6 ? toIpv6Bytes(text) : null;
}

function toMappedIpv4(bytes: ArrayLike<number> & Iterable<number>): Uint8Array {
  return Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...bytes);
}

function toIpv4Bytes(text: string): number[] {
  return text.split(".").map(Number);
}

/** The text has passed `isIP`, so it has eight groups, or one `::` that stands for the groups that are missing. */
function toIpv6Bytes(text: string): Uint8Array {
  const [head = "", tail = ""] = text.split("::");
  const front = toGroupBytes(head);
  const back = toGroupBytes(tail);
  const bytes = new Uint8Array(16);
  bytes.set(front, 0);
  bytes.set(back, 16 - back.length);
  return bytes;
}

function toGroupBytes(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return toIpv4Bytes(group);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function contains(cidr: Cidr, bytes: Uint8Array): boolean {
  const wholeBytes = cidr.prefixBits >> 3;
  for (let i = 0; i < wholeBytes; i++) {
    if (cidr.bytes[i] !== bytes[i]) return false;
  }
  const restBits = cidr.prefixBits & 7;
  if (restBits === 0) return true;
  const mask = 0xff << (8 - restBits);
  return ((cidr.bytes[wholeBytes] ?? 0) & mask) === ((bytes[wholeBytes] ?? 0) & mask);
}

function range(text: string, meaning: string): readonly [Cidr, string] {
  const cidr = parseCidr(text);
  assert(cidr !== null, "each text is an address range");
  return [cidr, `${meaning} (${text})`];
}

const [MAPPED_IPV4] = range("::ffff:0:0/96", "the IPv4-mapped range");
const [GLOBAL_UNICAST] = range("2000::/3", "the global unicast range");

// The IANA special-purpose registries, and the one metadata address (Azure's) that lies in no special range.
const BLOCKED: readonly (readonly [Cidr, string])[] = [
  range("0.0.0.0/8", "this network"),
  range("10.0.0.0/8", "a private network"),
  range("100.64.0.0/10", "a carrier's shared network"),
  range("127.0.0.0/8", "this machine's own network"),
  range("168.63.129.16/32", "a cloud platform's own network"),
  range("169.254.0.0/16", "the link-local network, where cloud metadata lives"),
  range("172.16.0.0/12", "a private network"),
  range("192.0.0.0/24", "the protocol assignments"),
  range("192.0.2.0/24", "a documentation network"),
  range("192.31.196.0/24", "an anycast sink network"),
  range("192.52.193.0/24", "an anycast relay network"),
  range("192.88.99.0/24", "the 6to4 relay network"),
  range("192.168.0.0/16", "a private network"),
  range("192.175.48.0/24", "an anycast sink network"),
  range("198.18.0.0/15", "a benchmarking network"),
  range("198.51.100.0/24", "a documentation network"),
  range("203.0.113.0/24", "a documentation network"),
  range("224.0.0.0/4", "the multicast range"),
  range("240.0.0.0/4", "a reserved network"),
  range("2001::/23", "the range of Teredo and protocol assignments"),
  range("2001:db8::/32", "a documentation network"),
  range("2002::/16", "the 6to4 range"),
  range("2620:4f:8000::/48", "an anycast sink network"),
  range("3fff::/20", "a documentation network"),
];

// Names for messages only: everything outside 2000::/3 is refused.
const IPV6_OUTSIDE_GLOBAL: readonly (readonly [Cidr, string])[] = [
  range("::/128", "this network"),
  range("::1/128", "this machine's own network"),
  range("64:ff9b::/96", "the NAT64 range"),
  range("64:ff9b:1::/48", "the local NAT64 range"),
  range("100::/64", "a discard network"),
  range("5f00::/16", "the segment routing range"),
  range("fc00::/7", "a private network"),
  range("fe80::/10", "the link-local network"),
  range("fec0::/10", "a private network"),
  range("ff00::/8", "the multicast range"),
];
