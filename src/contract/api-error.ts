import { type Static, Type } from "typebox";

// All error codes with their HTTP status, and the error body that all our APIs share.

export const API_ERROR_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  plan_required: 403,
  scope_required: 403,
  network_not_allowed: 403,
  widget_paused: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  slot_taken: 409,
  key_reused: 409,
  already_queued: 409,
  endpoint_disabled: 409,
  endpoint_removed: 409,
  payload_erased: 409,
  widget_changed: 409,
  payload_too_large: 413,
  invalid_fields: 422,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
  scheduler_unavailable: 503,
  booking_uncertain: 503,
} as const;

export type ApiErrorCode = keyof typeof API_ERROR_STATUS;

export const ApiErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.String({ description: "A stable, machine-readable code.", examples: ["bad_request"] }),
      message: Type.String({
        description: "A human-readable message. Its wording may change.",
        examples: ["The parameter limit must be a whole number from 1 to 500."],
      }),
    }),
  },
  { title: "Error" },
);

/** The error of a request whose body has faults, by field. */
export const FieldsErrorBody = Type.Object(
  {
    error: Type.Object({
      ...ApiErrorBody.properties.error.properties,
      fields: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description: "Messages by field.",
          examples: [{ name: "This must not be empty." }],
        }),
      ),
    }),
  },
  { title: "FieldsError" },
);
export type FieldsErrorBody = Static<typeof FieldsErrorBody>;
