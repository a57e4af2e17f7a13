import type { TLocalizedValidationError } from "typebox/error";
import { PATTERN_WORDS } from "#contract/app/forms.ts";

/** What is wrong with one value, as a sentence without its period: "customer.email is missing". `whole` names the whole value. */
export function describeSchemaFault(error: TLocalizedValidationError | undefined, whole: string): string {
  if (!error) return `${whole} is invalid`;
  const path = error.instancePath.slice(1).replaceAll("/", ".");
  if (error.keyword === "required") {
    const names = error.params.requiredProperties.map((name) => (path === "" ? name : `${path}.${name}`));
    return `${names.join(", ")} ${names.length === 1 ? "is" : "are"} missing`;
  }
  return `${path || whole} ${describeKeyword(error)}`;
}

export function describeKeyword(error: TLocalizedValidationError): string {
  switch (error.keyword) {
    case "type": {
      const { type } = error.params;
      return `must be ${(typeof type === "string" ? [type] : type).map((each) => TYPES[each] ?? each).join(" or ")}`;
    }
    case "format":
      return error.params.format === "date-time"
        ? "must be a date and time such as 2026-11-05T09:00:00Z"
        : "has the wrong format";
    case "pattern":
      return PATTERN_WORDS[String(error.params.pattern)] ?? "is invalid";
    case "minimum":
      return `must be at least ${error.params.limit}`;
    case "maximum":
      return `must be at most ${error.params.limit}`;
    case "maxLength":
      return `must have at most ${error.params.limit} characters`;
    case "minLength":
    case "minItems":
      return error.params.limit === 1 ? "must not be empty" : `must have at least ${error.params.limit}`;
    case "maxItems":
      return `must have at most ${error.params.limit} items`;
    case "enum":
      return `must be one of ${error.params.allowedValues.join(", ")}`;
    default:
      return "is invalid";
  }
}

const TYPES: Readonly<Record<string, string>> = {
  object: "an object",
  array: "a list",
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  null: "null",
};
