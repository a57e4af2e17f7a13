import type { SendFailureCode } from "#contract/webhooks/delivery.ts";
import { LoggableError } from "../lib/log/loggable-error.ts";

// Maps errors to failure codes, by their code, name and socket state, never by message text.

/** A failure that we raise ourselves; it passes through Node and undici unchanged. */
export class SendFault extends LoggableError<SendFailureCode> {
  readonly failure: SendFailureCode;
  constructor(failure: SendFailureCode, options?: ErrorOptions) {
    super(failure, options);
    this.failure = failure;
  }
}

const CONTENT_LENGTH_MISMATCH = "UND_ERR_RES_CONTENT_LENGTH_MISMATCH";

export type SocketFacts = {
  readonly isTls: boolean;
  /** The connection, including TLS, was established before the failure. */
  readonly wasConnected: boolean;
  /** The receiver has closed its side. */
  readonly isEnded: boolean;
};

export function toFailureCode(error: Error, socket: SocketFacts): SendFailureCode {
  if (error instanceof SendFault) return error.failure;
  const code = toCode(error);
  const known = FAILURE_BY_CODE[code];
  if (known !== undefined) return known;
  // undici gives these no code.
  if (error.name === "HTTPParserError") return "invalid_response";
  if (code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_")) return "tls_error";
  // The receiver closed the connection before its reply was complete; undici has several errors for that.
  if (socket.isEnded) return "connection_reset";
  // undici closed the connection itself: it refuses to change the protocol without having asked for that.
  if (code === "UND_ERR_SOCKET") return "invalid_response";
  // During a TLS handshake, anything but a system error is a refused certificate.
  const isSystemError = "syscall" in error || error instanceof AggregateError;
  return socket.isTls && !socket.wasConnected && !isSystemError ? "tls_error" : "network_error";
}

/** The parser's reason, such as "Missing expected CR after header value". undici puts it in brackets, without the reply. */
export function toReplyFault(error: Error): string | null {
  if (toCode(error) === CONTENT_LENGTH_MISMATCH) return "Content-Length doesn't match the body, or is sent twice";
  return error.name === "HTTPParserError" ? (/ \((.{1,200})\)$/.exec(error.message)?.[1] ?? null) : null;
}

/** If undici refuses to write a request, that is a bug and not a network failure. */
export function isMisuse(error: Error): boolean {
  return toCode(error) === "UND_ERR_INVALID_ARG" || toCode(error) === "UND_ERR_NOT_SUPPORTED";
}

const FAILURE_BY_CODE: Readonly<Record<string, SendFailureCode>> = {
  ECONNREFUSED: "connection_refused",
  ECONNRESET: "connection_reset",
  EPIPE: "connection_reset",
  ETIMEDOUT: "timeout",
  UND_ERR_CONNECT_TIMEOUT: "timeout",
  EPROTO: "tls_error",
  UND_ERR_HEADERS_OVERFLOW: "response_headers_too_large",
  [CONTENT_LENGTH_MISMATCH]: "invalid_response",
};

function toCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
