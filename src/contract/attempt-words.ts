import type { AttemptErrorCode } from "./delivery.ts";
import type { EndpointKind } from "./endpoint.ts";
import type { SendFailureCode } from "./send-failure.ts";

// How an attempt ended, in words: the same in the log, in notices and on the command line.

export const FAILURE_WORDS: Readonly<Record<SendFailureCode, string>> = {
  timeout: "Timed out",
  dns_error: "Host name not found on the public internet",
  connection_refused: "Connection refused",
  connection_reset: "Connection reset",
  tls_error: "Invalid TLS certificate",
  blocked_address: "Not a public address",
  invalid_response: "Not a valid HTTP response",
  response_headers_too_large: "Response headers over 16 KiB",
  network_error: "Network error",
};

type AttemptEnd = {
  readonly kind: EndpointKind;
  readonly status: number | null;
  readonly errorCode: AttemptErrorCode | null;
  /** What is wrong with a response that isn't valid HTTP. */
  readonly responseFault?: string | null;
};

/** "HTTP 503", "Timed out". */
export function describeAttempt({ kind, status, errorCode, responseFault = null }: AttemptEnd): string {
  switch (errorCode) {
    case null:
      if (status === null) return "No response yet";
      // The workflow runs afterwards and may still fail.
      return kind === "teams" && status === 202 ? "HTTP 202, accepted by Teams" : `HTTP ${status}`;
    case "http_status":
      return `HTTP ${status}`;
    case "redirect":
      return `HTTP ${status} (redirects aren’t followed)`;
    case "reply_body":
      return `HTTP ${status}, but the response says that nothing was posted`;
    case "held_back":
      return "Not sent: the endpoint was failing and had a backlog";
    case "interrupted":
      return "Interrupted on our side. The request may have arrived";
    case "secret_unreadable":
      return "Not sent: Bookflow can’t decrypt the signing secret";
    case "payload_erased":
      return "Not sent: the booking was erased";
    default: {
      const failure = status === null ? FAILURE_WORDS[errorCode] : `HTTP ${status}, then: ${FAILURE_WORDS[errorCode]}`;
      return responseFault === null ? failure : `${failure} (${responseFault})`;
    }
  }
}
