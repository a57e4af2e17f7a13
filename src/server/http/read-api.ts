import type { FastifyInstance } from "fastify";
import { type TSchema, Type } from "typebox";
import { ApiErrorBody, FieldsErrorBody } from "#contract/api-error.ts";
import { compressResponses } from "./compress.ts";

/** For the part of the app under /api/v1, behind the bearer guard. */
export function prepareReadApi(api: FastifyInstance): void {
  // No other site can make a browser send a key.
  compressResponses(api, () => true);
  // http/parameters.ts checks the parameters; their schemas only describe them.
  api.setValidatorCompiler(() => () => true);
}

const text = (description: string) => ({ type: "string", description });
const REQUEST_ID = {
  "X-Request-Id": text("Identifies this request in Bookflow's log: the value you sent, or a new one."),
};
const RATE_LIMIT = {
  "RateLimit-Policy": text("This key's limit, in the format of the IETF draft."),
  RateLimit: text("Requests left, and seconds until the limit resets."),
};
const RETRY_AFTER = { "Retry-After": { type: "integer", description: "Seconds to wait before the next request." } };

const describe = (schema: TSchema, meaning: string, headers: object = {}): TSchema => ({
  ...schema,
  description: meaning,
  headers: { ...REQUEST_ID, ...headers },
});
const refuse = (meaning: string, headers: object = {}) => describe(ApiErrorBody, meaning, headers);

/** How every route behind the bearer guard refuses. One status has one meaning in all of them. */
const REFUSALS = {
  400: refuse("`bad_request`: a parameter is invalid, or the body is not a JSON object.", RATE_LIMIT),
  401: refuse("`unauthorized`: no Bearer header, or the key is unknown, revoked or expired.", {
    "WWW-Authenticate": text("Bearer."),
  }),
  403: refuse(
    "`plan_required`: the organization is not on the plan that this needs. `scope_required`: the key doesn't have a scope that " +
      "this needs. `network_not_allowed`: the key can't be used from this network address.",
    RATE_LIMIT,
  ),
  404: refuse("`not_found`: this organization has nothing with this ID.", RATE_LIMIT),
  405: refuse("`method_not_allowed`: this address has other methods.", { Allow: text("The allowed methods.") }),
  429: refuse("`rate_limited`: too many requests with this key; see Retry-After.", { ...RATE_LIMIT, ...RETRY_AFTER }),
  431: refuse("`bad_request`: the request's headers are larger than 16 KiB."),
  500: refuse("`internal`: a bug in Bookflow; retry with increasing delays.", RATE_LIMIT),
  503: refuse(
    "`unavailable`: the database can't be reached, or the service is busy; see Retry-After. `scheduler_unavailable`: the scheduling " +
      "system refused, or couldn't be reached.",
    { ...RATE_LIMIT, ...RETRY_AFTER },
  ),
};

const withFields = (meaning: string) => describe(FieldsErrorBody, meaning, RATE_LIMIT);

const WRITE_REFUSALS = {
  409: withFields(
    "`conflict`, `already_queued`, `endpoint_disabled`, `endpoint_removed` or `payload_erased`: the state doesn't allow this; " +
      "see the message. `key_reused`: the Idempotency-Key was used for another request.",
  ),
  413: refuse("`payload_too_large`: the body is larger than 64 KiB.", RATE_LIMIT),
  422: withFields("`invalid_fields`: some fields are invalid; `fields` says which, and why."),
};

/** The responses that every read route can give. The schemas filter what is sent and describe the API. */
export function readApiResponses(success: TSchema, description: string): Record<number, TSchema> {
  return { ...REFUSALS, 200: describe(success, description, RATE_LIMIT) };
}

export function managementResponses(route: {
  method: string;
  response?: TSchema;
  status?: number;
}): Record<number, TSchema> {
  return {
    ...REFUSALS,
    ...(route.method === "GET" ? {} : WRITE_REFUSALS),
    [route.status ?? (route.response ? 200 : 204)]: describe(route.response ?? Type.Null(), "Done.", RATE_LIMIT),
  };
}
