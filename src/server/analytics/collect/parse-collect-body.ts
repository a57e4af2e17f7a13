import { BROWSER_STEPS } from "#contract/analytics/steps.ts";
import { COLLECT_EVENTS_MAX, CollectRequest } from "#contract/widgets/embed-api.ts";
import { shapeOf } from "../../lib/shape.ts";
import { isTooComplex } from "../../lib/text/json-text.ts";

const schema = shapeOf(CollectRequest);

/** Messages by field. They never repeat what was sent. */
const FAULTS: Readonly<Record<string, string>> = {
  visitId: "The field visitId must be a UUID.",
  events: `The field events must be a list of 1 to ${COLLECT_EVENTS_MAX} objects, each with a step of ${BROWSER_STEPS.join(", ")}.`,
};
const NOT_AN_OBJECT = 'The body must be a JSON object like {"visitId":"<uuid>","events":[{"step":"widget_viewed"}]}.';

const TOO_COMPLEX = "The body is nested too deeply or has too many values.";

type ParsedBody = { request: CollectRequest } | { fault: string };

export function parseCollectBody(text: string): ParsedBody {
  if (isTooComplex(text)) return { fault: TOO_COMPLEX };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return { fault: NOT_AN_OBJECT };
    throw error;
  }
  if (schema.Check(value)) return { request: value };
  return { fault: describeFault(value) };
}

function describeFault(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return NOT_AN_OBJECT;
  const [first] = schema.Errors(value);
  // "/events/0/step" is a fault of `events`; a missing field has no path yet.
  const named = first?.instancePath.split("/")[1];
  const member = named ?? (first?.keyword === "required" ? first.params.requiredProperties[0] : undefined);
  return FAULTS[member ?? ""] ?? NOT_AN_OBJECT;
}
