import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import { type Cidr, judgeAddress, permits } from "./address-rules.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { SendFault } from "./send-failure.ts";

// No byte reaches an address the rules refuse. A literal address is judged in the connector, because Node asks its lookup
// hook about names only; a name is resolved and judged inside that hook, and Node connects to exactly the addresses the
// hook returned, so a name cannot change its answer between the check and the connection. The address of the finished
// connection is judged once more. One refused address among several refuses them all.

export type Protocol = "http:" | "https:";

export type GuardSettings = { readonly resolve: ResolveHost; readonly allow: readonly Cidr[] };

/** What the connector tells of the connection it makes, and is told about its limit. */
export type ConnectionState = {
  /** The socket being made or in use; kept so that a connection can be given up at any moment. */
  socket: Socket | null;
  /** Set once the connection stands. */
  remoteAddress: string | null;
  /** Called when the socket has read more than `wireBytesLimit` since it was opened. */
  onOverflow: (() => void) | null;
  wireBytesLimit: number;
};

export type GuardedConnector = (
  connection: ConnectionState,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => void;

/** How long one of a name's several addresses may take to connect before the next is tried. */
const ADDRESS_TRY_MS = 1_000;

export function buildGuardedConnector(protocol: Protocol, settings: GuardSettings): GuardedConnector {
  const isPermitted = (address: string) => permits(judgeAddress(address, settings.allow), protocol);
  const connect = buildConnector({
    lookup: guardLookup(settings.resolve, isPermitted),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TRY_MS,
    allowH2: false,
    // Said aloud so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
    rejectUnauthorized: true,
    timeout: 0,
  });
  return (connection, options, callback) => {
    connection.remoteAddress = null;
    if (isIP(options.hostname) !== 0 && !isPermitted(options.hostname)) {
      callback(new SendFault("blocked_address"), null);
      return;
    }
    const socket: unknown = connect(options, (error, connected) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const { remoteAddress } = connected;
      if (remoteAddress === undefined || !isPermitted(remoteAddress)) {
        connected.destroy();
        callback(new SendFault(remoteAddress === undefined ? "connection_reset" : "blocked_address"), null);
        return;
      }
      connection.remoteAddress = remoteAddress;
      connected.on("readable", () => {
        if (connected.bytesRead > connection.wireBytesLimit) connection.onOverflow?.();
      });
      callback(null, connected);
    });
    // undici documents that its connector returns the socket at once; its types leave that out.
    connection.socket = socket as Socket;
  };
}

/** Node's lookup hook: all addresses of a name if every one is permitted, else none. IPv4 first: more hosts have it. */
function guardLookup(resolve: ResolveHost, isPermitted: (address: string) => boolean): LookupFunction {
  async function findAddresses(hostname: string): Promise<LookupAddress[]> {
    const answer = await resolve(hostname);
    if (answer.kind !== "found" || answer.addresses.length === 0) throw new SendFault("dns_error");
    if (!answer.addresses.every(isPermitted)) throw new SendFault("blocked_address");
    const addresses = answer.addresses.map((address) => ({ address, family: isIP(address) }));
    return addresses.sort((a, b) => a.family - b.family);
  }
  return (hostname, _options, callback) => {
    // Node asks for all addresses, because the connector may try several (autoSelectFamily).
    findAddresses(hostname).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error instanceof SendFault ? error : new SendFault("dns_error", { cause: error }), []),
    );
  };
}
