type TrustProxy = false | string[] | ((address: string, hop: number) => boolean);

/** Fastify trusts nobody for a plain number, as a client could claim any address; the operator asserts that none can. */
export function toTrustProxy(setting: false | number | string[]): TrustProxy {
  return typeof setting === "number" ? (_address, hop) => hop < setting : setting;
}
