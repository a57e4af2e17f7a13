import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import type { IdForm } from "#contract/ids.ts";
import { IDEMPOTENCY_KEY_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import { deriveRandom, type Random, randomId, randomUuid } from "../lib/secrets/random.ts";
import { ApiError } from "./errors/api-error.ts";

/** For the API reference. */
export const IDEMPOTENCY_KEY_HEADERS = Type.Object({
  "Idempotency-Key": Type.Optional(
    Type.String({
      pattern: "\\S",
      maxLength: IDEMPOTENCY_KEY_LENGTH_MAX,
      description:
        "A repeated request with the same key does nothing twice and gets the first response. It gets 409 if that contains a secret, if it adds a connection, or if the body is different.",
    }),
  ),
});

type KeyedRequest = Pick<FastifyRequest, "headers" | "url">;

export function requireIdempotencyKey(request: KeyedRequest): string {
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
  request: KeyedRequest,
  { owner, form }: { owner: string; form: IdForm },
): Id {
  if (request.headers["idempotency-key"] === undefined) return randomId<Id>(deps.random, form);
  return randomId<Id>(deriveFrom(request, owner, form.prefix), form);
}

/** The id of the audit entry that a request writes, derived from its Idempotency-Key and address; null without a key. */
export function chooseAuditId(request: KeyedRequest, owner: string): string | null {
  if (request.headers["idempotency-key"] === undefined) return null;
  const path = request.url.replace(/\/?(?:\?.*)?$/, "");
  return randomUuid(deriveFrom(request, owner, `audit entry of ${path}`));
}

function deriveFrom(request: KeyedRequest, owner: string, purpose: string): Random {
  return deriveRandom(`${owner} ${requireIdempotencyKey(request)}`, `${purpose} by Idempotency-Key`);
}
