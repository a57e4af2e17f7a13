import { API_ERROR_STATUS, type ApiErrorCode, type FieldsErrorBody } from "#contract/api-error.ts";
import { LoggableError } from "../../lib/log/loggable-error.ts";

/** A caller's mistake, or a state the caller must know about. Thrown in route files and guards only. */
export class ApiError extends Error {
  readonly code: ApiErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ApiErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return API_ERROR_STATUS[this.code];
  }

  get body(): FieldsErrorBody {
    return { error: { code: this.code, message: this.message } };
  }
}

/** Unknown, malformed and other organizations' ids all get the same response. */
export function notFound(thing: string): ApiError {
  return new ApiError("not_found", `${thing} not found.`);
}

/** Messages by field path: `{ "customer.email": "…" }`. */
export class FieldsError extends ApiError {
  readonly fields: Readonly<Record<string, string>>;

  constructor(
    fields: Readonly<Record<string, string>>,
    { code, message }: { code: ApiErrorCode; message: string } = INVALID_FIELDS,
  ) {
    super(code, message);
    this.fields = fields;
  }

  override get body(): FieldsErrorBody {
    return { error: { code: this.code, message: this.message, fields: this.fields } };
  }
}

const INVALID_FIELDS = { code: "invalid_fields", message: "Some fields are invalid." } as const;

/** Whoever asked has closed the connection, so nobody waits for the response. Work that can stop throws this. */
export class CallerLeft extends LoggableError<"The caller has left"> {
  constructor() {
    super("The caller has left");
  }
}
