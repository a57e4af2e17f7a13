// What other slices use of sending.

export {
  type AddressRules,
  type AddressVerdict,
  type Cidr,
  judgeAddress,
  parseCidr,
  permits,
} from "./address-rules.ts";
export { ConnectionPool } from "./connection-pool.ts";
export {
  type Ending,
  type Exchanged,
  type ExchangeRequest,
  exchange,
  type ReplyHeaders,
  type ReplySink,
} from "./exchange.ts";
export type { GuardSettings } from "./guarded-connector.ts";
export { createSystemResolver, type ResolveHost } from "./resolve-host.ts";
export { parseRetryAfter } from "./retry-after.ts";
