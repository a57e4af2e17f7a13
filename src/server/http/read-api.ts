import type { FastifyInstance } from "fastify";
import type { TSchema } from "typebox";
import { ApiErrorBody } from "#contract/api-error.ts";

/** The part of the app under /api/v1, behind the bearer guard. */
export type ReadApi = FastifyInstance;

/** The responses that every read route can give. The schemas filter what is sent and describe the API. */
export function readApiResponses(success: TSchema, description: string): Record<number, TSchema> {
  const answer = (schema: TSchema, text: string): TSchema => ({ ...schema, description: text });
  return {
    200: answer(success, description),
    400: answer(ApiErrorBody, "`bad_request`: a parameter is invalid."),
    401: answer(ApiErrorBody, "`unauthorized`: no Bearer header, or the key is unknown or revoked."),
    403: answer(ApiErrorBody, "`plan_required`: the organization is not on the Business plan."),
    404: answer(ApiErrorBody, "`not_found`: the widget parameter does not match one of your widgets."),
    429: answer(ApiErrorBody, "`rate_limited`: too many requests with this key; see Retry-After."),
    500: answer(ApiErrorBody, "`internal`: failure on our side; retry with backoff."),
    503: answer(ApiErrorBody, "`unavailable`: the database cannot be reached; see Retry-After."),
  };
}
