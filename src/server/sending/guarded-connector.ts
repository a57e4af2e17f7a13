import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import { pause } from "../lib/concurrency/pause.ts";
import { type AddressRules, judgeAddress, permits } from "./address-rules.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { SendFault } from "./send-failure.ts";
import { skipInterimReplies } from "./skip-interim-replies.ts";

// No byte reaches an address that the rules refuse. Literal addresses are checked in the connector, because Node calls its
// lookup hook only for names. Names are resolved and checked inside that hook, and Node connects to exactly the addresses the
// hook returns, so a name cannot resolve differently between check and connection. The connected address is checked again.
// One refused address refuses the whole host.
//
// A name with a refused address fails like a name that does not exist, and no sooner: customers see how an attempt failed and how
// long it took, and must not learn from it which names exist in the operator's network.

export type Protocol = "http:" | "https:";

export type GuardSettings = AddressRules & { readonly resolve: ResolveHost };

export type ConnectionState = {
  /** Connecting or in use; kept so that a connection can be dropped at any time. */
  socket: Socket | null;
  /** Set once connected. */
  remoteAddress: string | null;
  /** Called when the socket has read more than `wireBytesLimit` since it was opened. */
  onOverflow: (() => void) | null;
  wireBytesLimit: number;
  /** A request was sent, and its final reply has not begun. */
  awaitsReply: boolean;
  /** How long opening it took; taken by the first request that uses it. */
  opening: OpeningTimes | null;
};

/** Null parts did not happen: the host is an address, or there is no TLS. */
export type OpeningTimes = { lookupMs: number | null; connectMs: number | null; tlsMs: number | null };

export type GuardedConnector = (
  connection: ConnectionState,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => void;

/** Longer than most name servers take to find out that a name does not exist. */
const NOT_FOUND_MS = 100;

/** How long one of a name's several addresses may take to connect before the next is tried. */
const ADDRESS_TRY_MS = 1_000;

export function buildGuardedConnector(protocol: Protocol, settings: GuardSettings): GuardedConnector {
  const isPermitted = (address: string) => permits(judgeAddress(address, settings), protocol);
  const connect = buildConnector({
    lookup: guardLookup(settings.resolve, isPermitted),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TRY_MS,
    allowH2: false,
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED cannot turn it off.
    rejectUnauthorized: true,
    timeout: 0,
  });
  return (connection, options, callback) => {
    connection.remoteAddress = null;
    connection.opening = null;
    const watch = new OpeningWatch();
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
      connection.opening = watch.read(protocol);
      connected.on("readable", () => {
        if (connected.bytesRead > connection.wireBytesLimit) connection.onOverflow?.();
      });
      skipInterimReplies(connected, connection);
      callback(null, connected);
    });
    // undici documents that its connector returns the socket at once; its types leave that out.
    connection.socket = socket as Socket;
    watch.follow(connection.socket);
  };
}

class OpeningWatch {
  readonly #startedAt = performance.now();
  #resolvedAt: number | null = null;
  #connectedAt: number | null = null;

  follow(socket: Socket): void {
    socket.once("lookup", () => {
      this.#resolvedAt = performance.now();
    });
    socket.once("connect", () => {
      this.#connectedAt = performance.now();
    });
  }

  /** Call it once the connection is ready for a request. */
  read(protocol: Protocol): OpeningTimes {
    const now = performance.now();
    const connectedAt = this.#connectedAt ?? now;
    return {
      lookupMs: this.#resolvedAt === null ? null : Math.round(this.#resolvedAt - this.#startedAt),
      connectMs: Math.round(connectedAt - (this.#resolvedAt ?? this.#startedAt)),
      tlsMs: protocol === "https:" ? Math.round(now - connectedAt) : null,
    };
  }
}

/** Node's lookup hook: all addresses of a name if every one is permitted, otherwise none. IPv4 first, as more hosts have it. */
function guardLookup(resolve: ResolveHost, isPermitted: (address: string) => boolean): LookupFunction {
  async function findAddresses(hostname: string): Promise<LookupAddress[]> {
    const startedAt = performance.now();
    const reply = await resolve(hostname);
    const found = reply.kind === "found" ? reply.addresses : [];
    if (found.length === 0 || !found.every(isPermitted)) {
      await pause(Math.max(0, startedAt + NOT_FOUND_MS - performance.now()));
      throw new SendFault("dns_error");
    }
    const addresses = found.map((address) => ({ address, family: isIP(address) }));
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
