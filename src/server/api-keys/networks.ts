import { BlockList, isIP } from "node:net";

export function isInNetworks(networks: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const { address: first, bits, family } of networks.flatMap((text) => parseNetwork(text) ?? []))
    list.addSubnet(first, bits, family);
  // Also matches an IPv4 address that is written as IPv6.
  return list.check(address, toFamily(address) ?? "ipv4");
}

/** Whether each network lies within one of the others; none means everywhere. */
export function isWithinNetworks(networks: readonly string[], others: readonly string[]): boolean {
  if (others.length === 0) return true;
  const outer = others.flatMap((text) => parseNetwork(text) ?? []);
  return (
    networks.length > 0 &&
    networks
      .flatMap((text) => parseNetwork(text) ?? [])
      .every(({ address, bits, family }) =>
        outer.some(
          (other) =>
            other.family === family && other.bits <= bits && isInNetworks([`${other.address}/${other.bits}`], address),
        ),
      )
  );
}

function parseNetwork(text: string): { address: string; bits: number; family: "ipv4" | "ipv6" } | null {
  const [, address = "", prefix] = /^([0-9A-Fa-f.:]+)(?:\/([0-9]{1,3}))?$/.exec(text) ?? [];
  const family = toFamily(address);
  if (family === null) return null;
  const bitsMax = family === "ipv4" ? 32 : 128;
  const bits = prefix === undefined ? bitsMax : Number(prefix);
  return bits <= bitsMax ? { address, bits, family } : null;
}

function toFamily(address: string): "ipv4" | "ipv6" | null {
  const version = isIP(address);
  if (version === 0) return null;
  return version === 4 ? "ipv4" : "ipv6";
}
