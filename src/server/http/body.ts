import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { ApiError, FieldsError } from "./api-error.ts";

// Bodies of the dashboard API. A fault is told by the field it is in, so that a form can show it there.

/** Members that the schema does not name are ignored. */
export function bodyReader<Schema extends TSchema>(schema: Schema): (request: FastifyRequest) => Static<Schema> {
  const shape = Compile(schema);
  return (request) => {
    const { body } = request;
    if (typeof body !== "object" || body === null || Array.isArray(body))
      throw new ApiError("bad_request", "The body must be a JSON object.");
    if (shape.Check(body)) return body;
    const faults: Record<string, string> = {};
    for (const { keyword, instancePath, params } of shape.Errors(body)) {
      const path = instancePath.slice(1).replaceAll("/", ".");
      if (keyword === "required")
        for (const name of params.requiredProperties) faults[path === "" ? name : `${path}.${name}`] = IS_MISSING;
      else faults[path] ??= "This has a form that does not fit here.";
    }
    throw new FieldsError(faults);
  };
}

const IS_MISSING = "This is missing.";

/** Collects what is wrong with the fields of a form, to be told all at once. */
export class FormCheck {
  readonly #faults: Record<string, string> = {};

  refuse(name: string, fault: string): void {
    this.#faults[name] ??= fault;
  }

  /** A text that can be shown on one line, without spaces around it. */
  line(name: string, text: string, rule: { lengthMax: number; mayBeEmpty?: boolean }): string {
    const line = text.trim().toWellFormed();
    if (line === "" && rule.mayBeEmpty !== true) this.refuse(name, "Please fill this in.");
    if ([...line].length > rule.lengthMax)
      this.refuse(name, `This must not be longer than ${rule.lengthMax} characters.`);
    if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(line)) this.refuse(name, "This must not hold line breaks or control characters.");
    return line;
  }

  /** Throws what was found. */
  done(): void {
    if (Object.keys(this.#faults).length > 0) throw new FieldsError(this.#faults);
  }
}
