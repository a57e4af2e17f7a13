type TrustProxy = false | string[] | ((address: string, hop: number) => boolean);

/**
 * For Fastify. A bare number it takes for "nobody", because a client that reaches us directly could then name any address;
 * an operator who counts the proxies says that no client can.
 */
export function toTrustProxy(setting: false | number | string[]): TrustProxy {
  return typeof setting === "number" ? (_address, hop) => hop < setting : setting;
}
