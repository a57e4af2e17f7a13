import { type OpenApiDocument, type Parameter, resolve, type Schema } from "../../src/server/reference/openapi-document.ts";
import type { Content } from "../../src/server/reference/operations.ts";

/** The body of a message as it might be sent: the example it was given, or one made from its schema. */
export function toExample(document: OpenApiDocument, content: Content): unknown {
  return content.example ?? toSchemaExample(document, content.schema);
}

export function toSchemaExample(document: OpenApiDocument, schema: Schema): unknown {
  return toValue({ document, schema, inside: [] });
}

export function toParameterExample({ example, schema }: Parameter): unknown {
  return example ?? (schema === undefined ? undefined : findGivenValue(schema));
}

const FORMAT_EXAMPLES: Readonly<Record<string, string>> = {
  "date-time": "2026-11-01T09:30:00.000Z",
  date: "2026-11-01",
  email: "ada@example.com",
  uri: "https://example.com/",
  uuid: "0192f0c1-2a3b-7c4d-8e5f-60718293a4b5",
};

type Place = {
  readonly document: OpenApiDocument;
  readonly schema: Schema;
  /** The references that lead here: a schema that contains itself ends the example there. */
  readonly inside: readonly string[];
};

function toValue({ document, schema: outer, inside }: Place): unknown {
  if (outer.$ref !== undefined && inside.includes(outer.$ref)) return undefined;
  const schema = resolve(document, outer);
  const below = outer.$ref === undefined ? inside : [...inside, outer.$ref];
  const given = findGivenValue(schema);
  if (given !== undefined) return given;

  const variants = schema.anyOf ?? schema.oneOf ?? [];
  const types = [schema.type ?? []].flat();
  // Where no example is given, null is the one value that is certainly right.
  if (types.includes("null") || variants.some((variant) => variant.type === "null")) return null;
  const [variant] = variants;
  if (variant !== undefined) return toValue({ document, schema: variant, inside: below });

  switch (types[0]) {
    case "object":
      return toObject({ document, schema, inside: below });
    case "array": {
      const item = toValue({ document, schema: schema.items ?? {}, inside: below });
      return item === undefined ? [] : [item];
    }
    case "integer":
    case "number":
      return schema.minimum ?? 0;
    case "boolean":
      return true;
    case "string":
      return FORMAT_EXAMPLES[schema.format ?? ""] ?? "string";
    default:
      return undefined;
  }
}

/** An optional text or number without an example is left out, as it often is from an answer. */
function toObject({ document, schema, inside }: Place): Record<string, unknown> {
  const properties = Object.entries(schema.properties ?? {}).filter(([name, property]) => {
    const { type, ...rest } = resolve(document, property);
    const isRequired = schema.required?.includes(name) ?? false;
    return isRequired || type === "object" || type === "array" || findGivenValue(rest) !== undefined;
  });
  return Object.fromEntries(
    properties.map(([name, property]) => [name, toValue({ document, schema: property, inside })]),
  );
}

function findGivenValue(schema: Schema): unknown {
  return [schema.example, schema.examples?.[0], schema.const, schema.enum?.[0], schema.default].find(
    (value) => value !== undefined,
  );
}
