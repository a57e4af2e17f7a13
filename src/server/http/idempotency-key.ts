import type { FastifyRequest } from "fastify";
import { IDEMPOTENCY_KEY_LENGTH_MAX } from "#contract/book.ts";
import type { IdForm } from "#contract/ids.ts";
import { deriveRandom } from "../lib/derived-random.ts";
import { type Random, randomId } from "../lib/random.ts";
import { ApiError } from "./api-error.ts";

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
 * The id of what a request makes. With an Idempotency-Key it follows from that: a request that is sent again because its answer
 * got lost comes to the id of what the first one made, and nothing is made twice.
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
