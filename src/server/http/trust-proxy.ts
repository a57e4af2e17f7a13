type TrustProxy = false | string[] | ((address: string, hop: number) => boolean);

/**
 * The setting for Fastify. Fastify treats a plain number as "trust nobody", because a client that connects directly
 * could claim any address. An operator who gives a number of proxies asserts that no client can.
 */
export function toTrustProxy(setting: false | number | string[]): TrustProxy {
  return typeof setting === "number" ? (_address, hop) => hop < setting : setting;
}
