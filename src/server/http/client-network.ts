import { isIPv6 } from "node:net";

const GROUPS_OF_A_NETWORK = 4;

/**
 * What one subscriber has: an IPv4 address, or the first half of an IPv6 address, the rest of which can be changed at
 * will. For counting in memory only.
 */
export function toClientNetwork(ip: string): string {
  if (!ip.includes(":") || ip.startsWith("::ffff:") || !isIPv6(ip)) return ip;
  const [before = "", after] = ip.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, GROUPS_OF_A_NETWORK).join(":");
}
