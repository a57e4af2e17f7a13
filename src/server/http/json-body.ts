import type { FastifyInstance } from "fastify";
import { isTooComplex } from "../lib/text/json-text.ts";
import { ApiError } from "./api-error.ts";

/** Enough for what people send before they are signed in: addresses, passwords and tokens. */
export const OPEN_BODY_MAX_BYTES = 8 * 1024;

/** The body limit of the dashboard API already limits how many values a member sends. */
const VALUES_MAX = Number.POSITIVE_INFINITY;

/** Fastify's parser for JSON, after a check that parsing costs little. */
export function installJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) =>
    isTooComplex(body, VALUES_MAX)
      ? done(new ApiError("bad_request", "The body is nested too deeply."))
      : parse(request, body, done),
  );
}
