import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { IDEMPOTENCY_KEY_LENGTH_MAX } from "#contract/book.ts";
import type { IdForm } from "#contract/ids.ts";
import { deriveRandom } from "../lib/secrets/derived-random.ts";
import { type Random, randomId } from "../lib/secrets/random.ts";
import { ApiError } from "./api-error.ts";

/** For the API reference. */
export const IDEMPOTENCY_KEY_HEADERS = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      pattern: "\\S",
      maxLength: IDEMPOTENCY_KEY_LENGTH_MAX,
      description:
        "Repeat a request with the same key, and nothing is created twice. What is shown only once is not shown again.",
    }),
  ),
});

export function requireIdempotencyKey(request: FastifyRequest): string {
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string" || key.trim() === "" || key.length > IDEMPOTENCY_KEY_LENGTH_MAX)
    throw new ApiError(
      "bad_request",
      `Send an Idempotency-Key header of 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`,
    );
  return key;
}

/**
 * The id of the thing that a request creates. With an Idempotency-Key the id is derived from the key, so a repeated
 * request finds what the first one created, and nothing is created twice.
 */
export function chooseId<Id extends string>(
  deps: { random: Random },
  request: FastifyRequest,
  { owner, form }: { owner: string; form: IdForm },
): Id {
  if (request.headers["idempotency-key"] === undefined) return randomId<Id>(deps.random, form);
  const source = `${owner} ${requireIdempotencyKey(request)}`;
  return randomId<Id>(deriveRandom(source, `${form.prefix} by Idempotency-Key`), form);
}
