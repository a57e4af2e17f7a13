import assert from "node:assert/strict";

// Builds the example of a schema in our OpenAPI document, so that tests can compare documents with what is really sent.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
};

export type OpenApiDocument = { readonly components: { readonly schemas: Readonly<Record<string, Schema>> } };

/** Uses each schema's example. Optional texts without one are left out; numbers without one are zero. */
export function toSchemaExample(document: OpenApiDocument, outer: Schema): unknown {
  const schema = resolve(document, outer);
  const given = schema.examples?.[0] ?? (schema.enum?.length === 1 ? schema.enum[0] : undefined);
  if (given !== undefined) return given;
  const types = [schema.type ?? [], ...(schema.anyOf ?? []).map(({ type }) => type ?? [])].flat();
  if (types.includes("null")) return null;
  if (types.includes("integer") || types.includes("number")) return 0;
  if (schema.items) return [toSchemaExample(document, schema.items)];
  if (!schema.properties) return undefined;
  const values = Object.entries(schema.properties).map(
    ([name, property]) => [name, toSchemaExample(document, property)] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function resolve({ components }: OpenApiDocument, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const target = components.schemas[schema.$ref.replace("#/components/schemas/", "")];
  assert.ok(target, schema.$ref);
  return target;
}
