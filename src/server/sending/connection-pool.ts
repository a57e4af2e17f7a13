import { Client } from "undici";
import { assert } from "../lib/assert.ts";
import {
  buildGuardedConnector,
  type ConnectionState,
  type GuardedConnector,
  type GuardSettings,
  type Protocol,
} from "./guarded-connector.ts";
import type { SocketFacts } from "./send-failure.ts";

// Connections are undici Clients with one socket each, kept for their user while idle: a receiver that writes more than one
// reply spoils the next request on its socket, which must not belong to a neighbour on the same host. undici's own Pool is not
// used, because its requests can queue while the time limit runs, and it cannot abandon a connection that is still being made.
// So there are as many sockets in use as sends in progress, which the caller limits; idle ones are limited here.

const REPLY_HEADER_BYTES_MAX = 16 * 1_024;
const IDLE_SOCKETS_MAX = 256;
/**
 * Shorter than common servers wait (gunicorn closes after 2 s, Node and Apache after 5 s): a POST written to a socket that the
 * server is just closing is lost, and we never repeat a request that may have arrived.
 */
const IDLE_SOCKET_MS = 1_500;

type Connection = ConnectionState & {
  /** User and origin. */
  readonly lane: string;
  readonly isTls: boolean;
  readonly client: Client;
};

export class ConnectionPool {
  readonly #connectors: Record<Protocol, GuardedConnector>;
  readonly #idleByLane = new Map<string, Connection[]>();
  /** The same connections, longest idle first. */
  readonly #idle = new Set<Connection>();
  #inUse = 0;
  #onDrained: (() => void) | null = null;
  #isClosing = false;

  constructor(settings: GuardSettings) {
    this.#connectors = {
      "http:": buildGuardedConnector("http:", settings),
      "https:": buildGuardedConnector("https:", settings),
    };
  }

  /** The user's most recently used idle connection to this origin, or a new one. */
  take(origin: string, user: string): Connection {
    assert(!this.#isClosing, "nothing is sent after close");
    const lane = `${user} ${origin}`;
    const idle = this.#idleByLane.get(lane)?.at(-1);
    if (idle !== undefined) this.#forget(idle);
    const connection = idle ?? this.#open(origin, lane);
    this.#inUse++;
    return connection;
  }

  giveBack(connection: Connection): void {
    const oldest = this.#idle.values().next();
    if (this.#idle.size >= IDLE_SOCKETS_MAX && !oldest.done) this.#discard(oldest.value);
    const siblings = this.#idleByLane.get(connection.lane);
    if (siblings === undefined) this.#idleByLane.set(connection.lane, [connection]);
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
      // Let the callers of those sends see their results first.
      await new Promise(setImmediate);
    }
    for (const connection of this.#idle) this.#discard(connection);
  }

  #open(origin: string, lane: string): Connection {
    const { protocol } = new URL(origin);
    assert(protocol === "https:" || protocol === "http:", "only http and https addresses are accepted");
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
      lane,
      isTls: protocol === "https:",
      client,
      socket: null,
      remoteAddress: null,
      onOverflow: null,
      wireBytesLimit: 0,
      awaitsReply: false,
      opening: null,
    };
    // A socket lost in use fails its request; one lost while idle must not be reused.
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
    const siblings = this.#idleByLane.get(connection.lane) ?? [];
    siblings.splice(siblings.lastIndexOf(connection), 1);
    if (siblings.length === 0) this.#idleByLane.delete(connection.lane);
  }

  #countDown(): void {
    this.#inUse--;
    if (this.#inUse === 0) this.#onDrained?.();
  }
}

export function toSocketFacts(connection: Connection): SocketFacts {
  return {
    isTls: connection.isTls,
    wasConnected: connection.remoteAddress !== null,
    isEnded: connection.socket?.readableEnded === true,
  };
}

function destroy(connection: Connection): void {
  connection.socket?.destroy();
  // Nobody waits for a request on it; undici's promise resolves once the socket is closed.
  void connection.client.destroy();
}
