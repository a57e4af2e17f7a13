import type { Dispatcher } from "undici";
import type { SendFailureCode } from "#contract/webhooks/delivery.ts";
import { LoggableError } from "../lib/log/loggable-error.ts";
import { type ConnectionPool, toSocketFacts } from "./connection-pool.ts";
import type { OpeningTimes } from "./guarded-connector.ts";
import { isMisuse, SendFault, toFailureCode, toReplyFault } from "./send-failure.ts";

// One request and its reply over a pooled connection. undici's timeouts are off: one time limit covers everything from the name
// lookup to the last byte. No redirect is followed and nothing is decompressed.

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type ReplySink = {
  start(status: number, headers: ReplyHeaders): void;
  read(chunk: Buffer): void;
};

export type ExchangeRequest = {
  readonly url: URL;
  /** Sockets are not shared between users. */
  readonly user: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string | null;
  readonly timeoutMs: number;
  /** Ends the exchange before its time limit. */
  readonly signal?: AbortSignal;
  readonly limits: {
    readonly bodyBytes: number;
    /**
     * Limits a reply of any kind: informational responses (1xx) and chunk headers count neither as headers nor as body. Larger
     * than both limits plus what Node reads ahead, so an ordinary reply never reaches it.
     */
    readonly wireBytes: number;
  };
};

/** How the exchange ended. Only a whole reply leaves a reusable socket. */
export type Ending = "whole" | "body_too_long" | "wire_too_long" | "given_up" | SendFailureCode;

export type Exchanged = {
  readonly ending: Ending;
  /** The request may have reached the other side. */
  readonly wasSent: boolean;
  readonly remoteAddress: string | null;
  /** Null if the connection was reused or never opened. */
  readonly opening: OpeningTimes | null;
  /** When the reply's status and headers had arrived, by performance.now(); null if they did not. */
  readonly repliedAt: number | null;
  /** What is wrong with a reply that isn't valid HTTP. */
  readonly replyFault: string | null;
};

/** Rejects only because of a bug. */
export async function exchange(pool: ConnectionPool, request: ExchangeRequest, reply: ReplySink): Promise<Exchanged> {
  const { url, signal, limits } = request;
  const connection = pool.take(url.origin, request.user);
  return await new Promise((resolve, reject) => {
    let isSettled = false;
    let repliedAt: number | null = null;
    let wasSent = false;
    let bodyBytes = 0;

    function settle(ending: Ending, replyFault: string | null = null): void {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      connection.onOverflow = null;
      const { remoteAddress, opening } = connection;
      connection.opening = null;
      resolve({ ending, wasSent, remoteAddress, opening, repliedAt, replyFault });
      if (ending === "whole") pool.giveBack(connection);
      else pool.drop(connection);
    }
    const giveUp = (): void => settle("given_up");

    // A timer of its own: an AbortController for each request takes several times as long.
    const timer = setTimeout(giveUp, request.timeoutMs);
    signal?.addEventListener("abort", giveUp, { once: true });
    connection.wireBytesLimit = (connection.socket?.bytesRead ?? 0) + limits.wireBytes;
    connection.onOverflow = () => settle("wire_too_long");
    connection.awaitsReply = true;
    connection.client.dispatch(
      { method: request.method, path: url.pathname + url.search, headers: request.headers, body: request.body },
      {
        // undici calls this just before it writes the request, and writes nothing when it is aborted here.
        onRequestStart: (controller) => {
          if (isSettled) controller.abort(new SendFault("timeout"));
          else wasSent = true;
        },
        onResponseStart: (_controller, status, headers) => {
          // A 1xx is informational, not the reply.
          if (isSettled || status < 200) return;
          repliedAt = performance.now();
          reply.start(status, headers);
        },
        onResponseData: (_controller, chunk) => {
          if (isSettled) return;
          bodyBytes += chunk.length;
          reply.read(chunk);
          if (bodyBytes > limits.bodyBytes) settle("body_too_long");
        },
        onResponseEnd: () => settle(repliedAt !== null ? "whole" : "network_error"),
        onResponseError: (_controller, error) => {
          // Without its cause: undici puts the header it could not write into the message.
          if (isMisuse(error)) reject(new LoggableError("undici refused the request"));
          settle(toFailureCode(error, toSocketFacts(connection)), toReplyFault(error));
        },
      },
    );
  });
}
