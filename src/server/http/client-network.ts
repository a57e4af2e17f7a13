import { isIPv6 } from "node:net";

const GROUPS_OF_A_NETWORK = 4;

/**
 * The network of one subscriber: an IPv4 address, or the first half of an IPv6 address, because subscribers can choose
 * the rest. Used only for counting in memory.
 */
export function toClientNetwork(ip: string): string {
  if (!ip.includes(":") || ip.startsWith("::ffff:") || !isIPv6(ip)) return ip;
  const [before = "", after] = ip.split("::");
  const head = before === "" ? [] : before.split(":");
  const tail = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? [] : Array<string>(Math.max(0, 8 - head.length - tail.length)).fill("0");
  return [...head, ...zeros, ...tail].slice(0, GROUPS_OF_A_NETWORK).join(":");
}
