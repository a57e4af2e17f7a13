import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { describeKeyword } from "../lib/schema-fault.ts";
import { shapeOf } from "../lib/shape.ts";
import { isTooComplex } from "../lib/text/json-text.ts";
import { ApiError, FieldsError } from "./errors/api-error.ts";

// Request bodies of the dashboard API. Each fault is reported with its field, so that a form can show it there.

/** Fields that the schema does not name are ignored, unless it was made with `bodyOf`. */
export function bodyReader<Schema extends TSchema>(
  schema: Schema,
): (request: Pick<FastifyRequest, "body">) => Static<Schema> {
  const shape = shapeOf(schema);
  return (request) => {
    const { body } = request;
    if (typeof body !== "object" || body === null || Array.isArray(body))
      throw new ApiError("bad_request", "The body must be a JSON object.");
    if (shape.Check(body)) return body;
    const faults: Record<string, string> = {};
    for (const error of shape.Errors(body)) {
      const path = error.instancePath.slice(1).replaceAll("/", ".");
      if (error.keyword === "required")
        for (const name of error.params.requiredProperties) faults[path === "" ? name : `${path}.${name}`] = IS_MISSING;
      else if (error.keyword === "dependentRequired")
        for (const name of error.params.dependencies) faults[name] = IS_MISSING;
      else if (error.keyword === "additionalProperties")
        for (const name of error.params.additionalProperties)
          faults[path === "" ? name : `${path}.${name}`] = IS_UNKNOWN;
      // Forms have one field for a list of texts.
      else faults[path.replace(/\.[0-9]+$/, "")] ??= `This ${describeKeyword(error)}.`;
    }
    throw new FieldsError(faults);
  };
}

const IS_MISSING = "This is required.";
const IS_UNKNOWN = "Unknown field.";

/** Enough for what people send before they are signed in: addresses, passwords and tokens. */
export const OPEN_BODY_MAX_BYTES = 8 * 1024;

/** The body limit of the dashboard API already limits how many values a member sends. */
const VALUES_MAX = Number.POSITIVE_INFINITY;

/**
 * Fastify's parser for JSON, after a check that parsing costs little. Many clients always name a media type, so an empty body is none; a
 * route that needs one refuses it.
 */
export function installJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") return done(null, undefined);
    if (isTooComplex(body, VALUES_MAX)) return done(new ApiError("bad_request", "The body is nested too deeply."));
    return parse(request, body, done);
  });
}
