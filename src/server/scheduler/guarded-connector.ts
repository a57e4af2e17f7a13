import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { type Cidr, judgeAddress, permits } from "../webhooks/address-rules.ts";
import type { ResolveHost } from "../webhooks/resolve-host.ts";
import { SendFault } from "../webhooks/send-failure.ts";

// Connects to no address that webhooks/address-rules.ts refuses. A literal is judged here, since Node asks its lookup hook
// about names only; a name is resolved and judged inside that hook, and Node connects to exactly what the hook returned, so
// that a name cannot answer differently between the check and the connection. One refused address refuses them all.

export type AddressGuard = { readonly resolve: ResolveHost; readonly allow: readonly Cidr[] };

type Protocol = "http:" | "https:";

const CONNECT_TIMEOUT_MS = 8_000;
/** How long one of a name's several addresses may take before the next is tried. */
const ADDRESS_TRY_MS = 1_000;

export function buildGuardedConnector(guard: AddressGuard): buildConnector.connector {
  const connectors = { "http:": buildFor("http:", guard), "https:": buildFor("https:", guard) };
  return (options, callback) => connectors[options.protocol === "https:" ? "https:" : "http:"](options, callback);
}

function buildFor(protocol: Protocol, guard: AddressGuard): buildConnector.connector {
  const isPermitted = (address: string) => permits(judgeAddress(address, guard.allow), protocol);
  const connect = buildConnector({
    lookup: toLookup(guard.resolve, isPermitted),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TRY_MS,
    allowH2: false,
    // Said aloud so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
    rejectUnauthorized: true,
    timeout: CONNECT_TIMEOUT_MS,
  });
  return (options, callback) => {
    if (isIP(options.hostname) !== 0 && !isPermitted(options.hostname)) {
      callback(new SendFault("blocked_address"), null);
      return;
    }
    connect(options, (error, socket) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      if (socket.remoteAddress !== undefined && isPermitted(socket.remoteAddress)) {
        callback(null, socket);
        return;
      }
      const fault = socket.remoteAddress === undefined ? "connection_reset" : "blocked_address";
      socket.destroy();
      callback(new SendFault(fault), null);
    });
  };
}

/** Node asks for all addresses, because it may try several. IPv4 first: more hosts have it. */
function toLookup(resolve: ResolveHost, isPermitted: (address: string) => boolean): LookupFunction {
  return (hostname, _options, callback) => {
    resolve(hostname).then(
      (answer) => {
        const addresses = answer.kind === "found" ? answer.addresses : [];
        if (addresses.length === 0) callback(new SendFault("dns_error"), []);
        else if (!addresses.every(isPermitted)) callback(new SendFault("blocked_address"), []);
        else callback(null, addresses.map(toLookupAddress).toSorted((a, b) => a.family - b.family));
      },
      (error: unknown) => callback(new SendFault("dns_error", { cause: error }), []),
    );
  };
}

function toLookupAddress(address: string): { address: string; family: number } {
  return { address, family: isIP(address) };
}
