import { isIPv6 } from "node:net";

const GROUPS_OF_A_NETWORK = 3;

/**
 * The smallest network that no single subscriber has many of: an IPv4 address, or the first 48 bits of an IPv6 address. Anyone can get
 * so large an IPv6 network (a /48), and with longer prefixes, its owner would count as up to 65,536 networks. Used only for
 * counting in memory.
 */
export function toClientNetwork(ip: string): string {
  if (!ip.includes(":") || ip.startsWith("::ffff:") || !isIPv6(ip)) return ip;
  const [before = "", after] = ip.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, GROUPS_OF_A_NETWORK).join(":");
}

type TrustProxy = false | string[] | ((address: string, hop: number) => boolean);

/** Fastify trusts nobody for a plain number, as a client could claim any address; the operator asserts that none can. */
export function toTrustProxy(setting: false | number | string[]): TrustProxy {
  return typeof setting === "number" ? (_address, hop) => hop < setting : setting;
}
