/** Why a request to a receiver or a scheduling system got no complete reply. */
export const SEND_FAILURE_CODES = [
  "timeout",
  /** The name has no address, or one that we don't send to: see sending/guarded-connector.ts. */
  "dns_error",
  "connection_refused",
  "connection_reset",
  "tls_error",
  /** The host is an address, and we don't send to it. */
  "blocked_address",
  "invalid_response",
  "response_headers_too_large",
  "network_error",
] as const;
export type SendFailureCode = (typeof SEND_FAILURE_CODES)[number];
