import type { ServiceErrorCode } from "./types.ts";

// Everything this library throws, except TypeErrors for wrong arguments and the reason of your own AbortSignal.

export class BookflowError<Code extends string = string> extends Error {
  /** A stable, machine-readable code. */
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/**
 * The service's codes, and `unexpected_response` for responses that aren't from the service, such as a proxy's error page or a
 * redirect. Codes may be added later; editors suggest those of now.
 */
export type ApiErrorCode = ServiceErrorCode | "unexpected_response" | (string & Record<never, never>);

/** The service, or something in front of it, responded with an error. */
export class ApiError extends BookflowError<ApiErrorCode> {
  readonly status: number;
  /** Messages by field, if fields of a body are the reason. */
  readonly fields: Readonly<Record<string, string>>;
  /** Quote it when you ask for help. */
  readonly requestId: string | null;
  /** From the Retry-After header. */
  readonly retryAfterSeconds: number | null;

  constructor(response: {
    code: ApiErrorCode;
    message: string;
    status: number;
    fields?: Readonly<Record<string, string>>;
    requestId: string | null;
    retryAfterSeconds: number | null;
  }) {
    super(response.code, response.message);
    this.fields = response.fields ?? {};
    this.status = response.status;
    this.requestId = response.requestId;
    this.retryAfterSeconds = response.retryAfterSeconds;
  }
}

export type ConnectionErrorCode = "timeout" | "unreachable";

/** There was no complete response; see `cause`. */
export class ConnectionError extends BookflowError<ConnectionErrorCode> {}

export type WebhookErrorCode =
  | "missing_signature"
  | "malformed_signature"
  | "stale_timestamp"
  | "wrong_signature"
  | "unreadable_body";

/** The request is not a webhook from Bookflow. Respond with 400 and do nothing else. */
export class WebhookError extends BookflowError<WebhookErrorCode> {}
