import assert from "node:assert/strict";
import fc from "fast-check";

/** The parts of JSON Schema that our API uses, without references. */
export type Schema = {
  type?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  dependentRequired?: Record<string, string[]>;
  additionalProperties?: boolean | Schema;
  examples?: unknown[];
};

/** Values for fields that a schema can't describe in full: existing IDs, addresses that can be reached, days in the future. */
export type Given = Readonly<Record<string, readonly unknown[]>>;

/** Values that the schema allows. */
export function validValues(schema: Schema, given: Given, name = ""): fc.Arbitrary<unknown> {
  const known = given[name];
  if (known) return fc.constantFrom(...known);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => validValues(each, given, name)));
  switch (schema.type) {
    case "object":
      return withDependents(
        schema,
        fc.record(
          Object.fromEntries(
            Object.entries(schema.properties ?? {}).map(([each, of]) => [each, validValues(of, given, each)]),
          ),
          { requiredKeys: schema.required ?? [] },
        ),
      );
    case "array":
      return fc.array(validValues(schema.items ?? {}, given, name), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      });
    case "integer":
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 10_000 });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "string":
      return validTexts(schema, name);
    default:
      throw new Error(`${name}: ${JSON.stringify(schema)} says too little`);
  }
}

function withDependents({ dependentRequired = {} }: Schema, objects: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return objects.filter((object) =>
    Object.entries(dependentRequired).every(
      ([name, others]) => !(name in object) || others.every((other) => other in object),
    ),
  );
}

export function validTexts(schema: Schema, name: string): fc.Arbitrary<string> {
  const { pattern, minLength = 0, maxLength = 100 } = schema;
  if (pattern) return fc.stringMatching(new RegExp(pattern, "u"), { maxLength: Math.min(maxLength, 100) });
  assert.ok(schema.maxLength && schema.minLength, `${name}: ${JSON.stringify(schema)} says too little`);
  return fc.string({ minLength, maxLength, unit: "grapheme-ascii" });
}

/** Values with one fault each. `valid` is one that the schema allows. */
export function* invalidValues(schema: Schema, valid: unknown): Generator<unknown> {
  if (schema.anyOf) {
    for (const each of schema.anyOf.flatMap((branch) => [...invalidValues(branch, valid)]))
      if (each !== null) yield each;
    return;
  }
  if (schema.enum) yield "something else";
  if (schema.type && schema.type !== "null") {
    yield schema.type === "array" ? "a text" : [];
    yield null;
  }
  if (schema.type === "string") yield* invalidTexts(schema);
  if (schema.type === "integer") {
    if (schema.minimum !== undefined) yield schema.minimum - 1;
    if (schema.maximum !== undefined) yield schema.maximum + 1;
    yield 1.5;
  }
  if (schema.type === "array") yield* invalidLists(schema, valid);
  if (schema.type === "object") yield* invalidObjects(schema, (valid ?? {}) as Record<string, unknown>);
}

function* invalidTexts({ pattern, maxLength, minLength = 0 }: Schema): Generator<string> {
  if (maxLength !== undefined) yield "x".repeat(maxLength + 1);
  if (minLength > 0) yield "";
  if (pattern) for (const text of ["", "\0", "a\nb", "!", " "]) if (!new RegExp(pattern, "u").test(text)) yield text;
}

function* invalidLists({ items = {}, minItems = 0, maxItems }: Schema, valid: unknown): Generator<unknown> {
  const [first] = Array.isArray(valid) ? valid : [];
  if (minItems > 0) yield [];
  if (maxItems !== undefined && first !== undefined) yield Array<unknown>(maxItems + 1).fill(first);
  for (const each of invalidValues(items, first)) yield [each];
}

function* invalidObjects(schema: Schema, valid: Record<string, unknown>): Generator<unknown> {
  const { properties = {}, required = [], dependentRequired = {}, additionalProperties } = schema;
  for (const name of required) {
    const { [name]: _, ...others } = valid;
    yield others;
  }
  for (const [name, others] of Object.entries(dependentRequired))
    if (name in valid) yield Object.fromEntries(Object.entries(valid).filter(([each]) => !others.includes(each)));
  if (additionalProperties === false) yield { ...valid, misspelled: 1 };
  if (typeof additionalProperties === "object")
    for (const each of invalidValues(additionalProperties, undefined)) yield { name: each };
  for (const [name, of] of Object.entries(properties))
    for (const each of invalidValues(of, valid[name])) yield { ...valid, [name]: each };
}
