import type { LookupAddress } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector, Client } from "undici";
import { WEBHOOK_HEADERS, WEBHOOK_USER_AGENT, type WebhookEventType } from "#contract/webhook-event.ts";
import { assert } from "../lib/assert.ts";
import { type Cidr, judgeAddress, permits } from "./address-rules.ts";
import { ReplyReader } from "./reply-reader.ts";
import type { ResolveHost } from "./resolve-host.ts";
import { isMisuse, type SendFailureCode, SendFault, type SocketFacts, toFailureCode } from "./send-failure.ts";

// The only place that sends anything to an address a customer chose. Three promises:
//
// 1. No byte reaches an address the rules refuse. A literal address is judged in the connector, because Node asks its
//    lookup hook about names only; a name is resolved and judged inside that hook, and Node connects to exactly the
//    addresses the hook returned, so a name cannot change its answer between the check and the connection. The address of
//    the finished connection is judged once more. One refused address among several refuses them all.
// 2. One time limit covers waiting for DNS, TCP, TLS, the status line, the headers and the body.
// 3. A reply costs bounded memory and traffic: 16 KiB of headers, 64 KiB of body read, 4 KiB kept, 256 KiB on the wire
//    whatever it is made of; nothing is decompressed, and no redirect is followed.
//
// Connections are undici Clients of one socket each, kept by origin while idle. undici's own Pool is not used, because it
// hides which socket served a request (the log names the address), lets requests queue where the time limit runs but no
// byte moves, and cannot give up a connection that is still being made. Sockets in use are therefore as many as sends
// under way, which the caller limits; idle ones are limited here.

type Protocol = "http:" | "https:";

export type SendResult =
  | {
      readonly kind: "reply";
      readonly status: number;
      /** The start of the body as text PostgreSQL takes; see reply-reader.ts. */
      readonly body: string;
      readonly truncated: boolean;
      readonly contentType: string | null;
      readonly retryAfter: string | null;
      readonly durationMs: number;
      readonly remoteAddress: string;
    }
  | {
      readonly kind: "failure";
      readonly code: SendFailureCode;
      /** The status that had arrived when the rest of the reply failed; it decides nothing and is for the log. */
      readonly status: number | null;
      readonly durationMs: number;
      /** Null when no connection was made. */
      readonly remoteAddress: string | null;
    };

export type OutboundPost = {
  readonly url: string;
  /** Sent as they are. */
  readonly body: Buffer;
  /** The contract's headers of a signed delivery; null for cards, which are not signed. */
  readonly signed: {
    readonly eventType: WebhookEventType;
    readonly deliveryId: string;
    readonly signature: string;
  } | null;
};

export type SendSettings = {
  readonly resolve: ResolveHost;
  readonly allow: readonly Cidr[];
  readonly timeoutMs: number;
  readonly docsUrl: string;
};

export type GuardedSend = {
  /** Never rejects for anything the receiver or the network does. */
  send(post: OutboundPost): Promise<SendResult>;
  /** Waits for the sends under way (the time limit ends each) and closes every socket. */
  close(): Promise<void>;
};

/** After this much of a body the socket is closed; the reply counts as it stands. */
export const REPLY_READ_BYTES_MAX = 64 * 1_024;
const REPLY_HEADER_BYTES_MAX = 16 * 1_024;
/**
 * Announcements (1xx) and chunk headers count neither as headers nor as body. This many bytes are more than the two limits
 * above and what Node reads ahead, so an honest reply never gets here.
 */
const REPLY_WIRE_BYTES_MAX = 256 * 1_024;
const IDLE_SOCKETS_MAX = 256;
/**
 * Shorter than common servers wait (gunicorn closes after 2 s, Node and Apache after 5 s): a POST written to a socket
 * that the server is just closing is lost, and we do not send twice what may have arrived.
 */
const IDLE_SOCKET_MS = 1_500;
/** How long one of a name's several addresses may take to connect before the next is tried. */
const ADDRESS_TRY_MS = 1_000;

export function createGuardedSend(settings: SendSettings): GuardedSend {
  const pool = new ConnectionPool(settings);
  const fixedHeaders = {
    "Content-Type": "application/json",
    "User-Agent": `${WEBHOOK_USER_AGENT} (+${settings.docsUrl})`,
    "Accept-Encoding": "identity",
  };
  return {
    send: async (post) =>
      exchange(pool, {
        url: new URL(post.url),
        headers: post.signed === null ? fixedHeaders : { ...fixedHeaders, ...toSignedHeaders(post.signed) },
        body: post.body,
        timeoutMs: settings.timeoutMs,
      }),
    close: () => pool.close(),
  };
}

function toSignedHeaders(signed: NonNullable<OutboundPost["signed"]>): Record<string, string> {
  return {
    [WEBHOOK_HEADERS.eventType]: signed.eventType,
    [WEBHOOK_HEADERS.deliveryId]: signed.deliveryId,
    [WEBHOOK_HEADERS.signature]: signed.signature,
  };
}

/** How an exchange ended: the reply is whole, enough of it was read, or a fault. Only a whole one leaves a usable socket. */
type Ending = "whole" | "cut" | SendFailureCode;

/** One POST and its outcome. undici's own time limits are off; the timer here is the only one. */
function exchange(
  pool: ConnectionPool,
  request: { url: URL; headers: Record<string, string>; body: Buffer; timeoutMs: number },
): Promise<SendResult> {
  const startedAt = performance.now();
  const connection = pool.take(request.url.origin);
  return new Promise((resolve, reject) => {
    const reply = new ReplyReader();
    let isSettled = false;

    function settle(ending: Ending): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(deadline);
      const durationMs = Math.round(performance.now() - startedAt);
      resolve(toResult(ending, { reply, durationMs, remoteAddress: connection.remoteAddress }));
      connection.onOverflow = null;
      if (ending === "whole") pool.giveBack(connection);
      else pool.drop(connection);
    }

    const deadline = setTimeout(() => settle("timeout"), request.timeoutMs);
    connection.wireBytesLimit = (connection.socket?.bytesRead ?? 0) + REPLY_WIRE_BYTES_MAX;
    connection.onOverflow = () => settle("network_error");

    const { pathname, search } = request.url;
    connection.client.dispatch(
      { method: "POST", path: pathname + search, headers: request.headers, body: request.body },
      {
        // undici calls this just before it writes the request, and writes nothing when it is aborted here.
        onRequestStart: (controller) => {
          if (isSettled) controller.abort(new SendFault("timeout"));
        },
        onResponseStart: (_controller, status, headers) => {
          // A 1xx only announces the reply.
          if (status >= 200) reply.start(status, headers);
        },
        onResponseData: (_controller, chunk) => {
          reply.read(chunk);
          if (reply.readBytes > REPLY_READ_BYTES_MAX) settle("cut");
        },
        onResponseEnd: () => {
          reply.isComplete = true;
          settle("whole");
        },
        onResponseError: (_controller, error) => {
          if (isMisuse(error)) reject(new Error("undici refused the request", { cause: error }));
          settle(toFailureCode(error, toFacts(connection)));
        },
      },
    );
  });
}

function toResult(
  ending: Ending,
  seen: { reply: ReplyReader; durationMs: number; remoteAddress: string | null },
): SendResult {
  const { reply, durationMs, remoteAddress } = seen;
  if (ending !== "whole" && ending !== "cut") {
    return { kind: "failure", code: ending, status: reply.status, durationMs, remoteAddress };
  }
  assert(reply.status !== null && remoteAddress !== null, "a reply has a status and came from somewhere");
  return { kind: "reply", status: reply.status, ...reply.toKept(), durationMs, remoteAddress };
}

function toFacts(connection: Connection): SocketFacts {
  return {
    isTls: connection.isTls,
    wasConnected: connection.remoteAddress !== null,
    isEnded: connection.socket?.readableEnded === true,
  };
}

type Connection = {
  readonly origin: string;
  readonly isTls: boolean;
  readonly client: Client;
  /** The socket being made or in use; kept so that a connection can be given up at any moment. */
  socket: Socket | null;
  /** Set once the connection stands. */
  remoteAddress: string | null;
  /** Called when the socket has read more than `wireBytesLimit` since it was opened. */
  onOverflow: (() => void) | null;
  wireBytesLimit: number;
};

class ConnectionPool {
  readonly #connectors: Record<Protocol, SocketConnector>;
  readonly #idleByOrigin = new Map<string, Connection[]>();
  /** The same connections, the one idle for longest first. */
  readonly #idle = new Set<Connection>();
  #inUse = 0;
  #onDrained: (() => void) | null = null;
  #isClosing = false;

  constructor(settings: SendSettings) {
    this.#connectors = { "http:": buildGuarded("http:", settings), "https:": buildGuarded("https:", settings) };
  }

  /** The idle connection that was used last, or a new one. */
  take(origin: string): Connection {
    assert(!this.#isClosing, "nothing is sent after close");
    const idle = this.#idleByOrigin.get(origin)?.at(-1);
    if (idle !== undefined) this.#forget(idle);
    const connection = idle ?? this.#open(origin);
    this.#inUse++;
    return connection;
  }

  giveBack(connection: Connection): void {
    const oldest = this.#idle.values().next();
    if (this.#idle.size >= IDLE_SOCKETS_MAX && !oldest.done) this.#discard(oldest.value);
    const siblings = this.#idleByOrigin.get(connection.origin);
    if (siblings === undefined) this.#idleByOrigin.set(connection.origin, [connection]);
    else siblings.push(connection);
    this.#idle.add(connection);
    this.#countDown();
  }

  drop(connection: Connection): void {
    destroy(connection);
    this.#countDown();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#inUse > 0) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
      // The callers of those sends see their results before this does.
      await new Promise(setImmediate);
    }
    for (const connection of this.#idle) this.#discard(connection);
  }

  #open(origin: string): Connection {
    const { protocol } = new URL(origin);
    assert(protocol === "https:" || protocol === "http:", "an endpoint's address is http or https");
    const client = new Client(origin, {
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: REPLY_HEADER_BYTES_MAX,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_SOCKET_MS,
      keepAliveMaxTimeout: IDLE_SOCKET_MS,
      connect: (options, callback) => this.#connectors[protocol](connection, options, callback),
    });
    const connection: Connection = {
      origin,
      isTls: protocol === "https:",
      client,
      socket: null,
      remoteAddress: null,
      onOverflow: null,
      wireBytesLimit: 0,
    };
    // In use, a lost socket is the request's own error; idle, it must not be handed out again.
    client.on("disconnect", () => {
      if (this.#idle.has(connection)) this.#discard(connection);
    });
    return connection;
  }

  #discard(connection: Connection): void {
    this.#forget(connection);
    destroy(connection);
  }

  #forget(connection: Connection): void {
    this.#idle.delete(connection);
    const siblings = this.#idleByOrigin.get(connection.origin) ?? [];
    siblings.splice(siblings.lastIndexOf(connection), 1);
    if (siblings.length === 0) this.#idleByOrigin.delete(connection.origin);
  }

  #countDown(): void {
    this.#inUse--;
    if (this.#inUse === 0) this.#onDrained?.();
  }
}

function destroy(connection: Connection): void {
  connection.socket?.destroy();
  // It has no request left that anyone waits for; undici's promise only says when the socket has closed.
  void connection.client.destroy();
}

type SocketConnector = (
  connection: Connection,
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => void;

function buildGuarded(protocol: Protocol, settings: SendSettings): SocketConnector {
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
