/** Why a request to a receiver or a scheduling system got no complete reply. */
export const SEND_FAILURE_CODES = [
  "timeout",
  "dns_error",
  "connection_refused",
  "connection_reset",
  "tls_error",
  "blocked_address",
  "invalid_response",
  "response_headers_too_large",
  "network_error",
] as const;
export type SendFailureCode = (typeof SEND_FAILURE_CODES)[number];
