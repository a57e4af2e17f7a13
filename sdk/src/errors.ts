// Everything this library throws but TypeErrors (a wrong argument) and the reason of an AbortSignal (your own wish).

export class BookflowError<Code extends string = string> extends Error {
  /** A stable word for programs. */
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** Codes of the service, and `unexpected_answer` for what does not come from it: a proxy's page, a redirect. */
export type ApiErrorCode =
  | "bad_request"
  | "unauthorized"
  | "plan_required"
  | "not_found"
  | "method_not_allowed"
  | "rate_limited"
  | "internal"
  | "unavailable"
  | "unexpected_answer"
  // Others may come, and editors still offer these.
  | (string & Record<never, never>);

/** The service, or something before it, answered with an error. */
export class ApiError extends BookflowError<ApiErrorCode> {
  readonly status: number;
  /** Quote it when you ask for help. */
  readonly requestId: string | null;
  /** How long the service asks to wait, from its Retry-After. */
  readonly retryAfterSeconds: number | null;

  constructor(about: {
    code: ApiErrorCode;
    message: string;
    status: number;
    requestId: string | null;
    retryAfterSeconds: number | null;
  }) {
    super(about.code, about.message);
    this.status = about.status;
    this.requestId = about.requestId;
    this.retryAfterSeconds = about.retryAfterSeconds;
  }
}

export type ConnectionErrorCode = "timeout" | "unreachable";

/** There was no whole answer. `cause` has what went wrong. */
export class ConnectionError extends BookflowError<ConnectionErrorCode> {}

export type WebhookErrorCode =
  | "missing_signature"
  | "malformed_signature"
  | "stale_timestamp"
  | "wrong_signature"
  | "unreadable_body";

/** The request is not a webhook of the service. Answer 400 and do nothing else. */
export class WebhookError extends BookflowError<WebhookErrorCode> {}
