import { type Html, type HtmlPart, html } from "../http/html.ts";
import { type OpenApiDocument, type Parameter, resolve, type Schema } from "./openapi-document.ts";
import { toAnchor } from "./operations.ts";
import { renderProse } from "./prose.ts";
import { renderTable } from "./table.ts";

/** A line of a table: a parameter, or a property with the path that leads to it, such as `answers[].` */
type Field = {
  readonly path: string;
  readonly name: string;
  readonly schema: Schema;
  readonly marks: readonly string[];
  readonly examples: readonly unknown[];
};

export function toParameterFields(parameters: readonly Parameter[]): Field[] {
  return parameters.map(({ name, required, description, schema, example }) => ({
    path: "",
    name,
    schema: { ...schema, ...(description === undefined ? {} : { description }) },
    marks: [required === true ? "required" : "optional"],
    examples: example === undefined ? (schema?.examples ?? []) : [example],
  }));
}

/** Every property, and below each the properties of the unnamed objects in it. Named ones have a table of their own. */
export function listSchemaFields(document: OpenApiDocument, schema: Schema, path = ""): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const examples = property.examples ?? [];
    const field: Field = {
      path,
      name,
      schema: property,
      marks: schema.required?.includes(name) ? [] : ["optional"],
      // A single example is seen in the panel beside the table.
      examples: examples.length > 1 ? examples : [],
    };
    return [field, ...listInnerFields(document, property, `${path}${name}`)];
  });
}

function listInnerFields(document: OpenApiDocument, schema: Schema, path: string): Field[] {
  if (schema.$ref !== undefined) return [];
  const record = findRecordValue(schema);
  return [
    ...listSchemaFields(document, schema, `${path}.`),
    ...(schema.items === undefined ? [] : listInnerFields(document, schema.items, `${path}[]`)),
    ...(record === null ? [] : listInnerFields(document, record, `${path}.*`)),
    ...(schema.anyOf ?? schema.oneOf ?? []).flatMap((variant) => listInnerFields(document, variant, path)),
  ];
}

export function renderFields(
  document: OpenApiDocument,
  table: { caption: string; heading: string; fields: readonly Field[] },
): Html {
  return renderTable({
    kind: "fields",
    caption: table.caption,
    headings: [table.heading, "Description"],
    rows: table.fields.map((field) => {
      const type = describeType(document, field.schema);
      const marks = [...field.marks, ...(type.isNullable ? ["nullable"] : [])];
      return [
        html`<code class="name"><span class="path">${field.path}</span>${field.name}</code>
<span class="type">${type.label}${marks.map((mark) => [", ", html`<span class="mark">${mark}</span>`])}</span>`,
        html`${renderProse(resolve(document, field.schema).description ?? "")}${renderFacts(field, type.values)}`,
      ];
    }),
  });
}

function renderFacts({ schema, examples }: Field, values: readonly unknown[]): Html | null {
  const facts: [string, readonly unknown[]][] = [
    [values.length > 1 ? "One of" : "Always", values],
    ["Default", toList(schema.default)],
    ["Minimum", toList(schema.minimum)],
    ["Maximum", toList(schema.maximum)],
    ["Entries at most", toList(schema.maxItems)],
    ["Pattern", toList(schema.pattern)],
    [examples.length > 1 ? "Examples" : "Example", examples],
  ];
  const shown = facts.filter(([, list]) => list.length > 0);
  if (shown.length === 0) return null;
  return html`<ul class="facts">${shown.map(([label, list]) => html`<li>${label} ${join(list.map(renderValue), ", ")}</li>`)}</ul>`;
}

function toList(value: unknown): unknown[] {
  return value === undefined ? [] : [value];
}

function renderValue(value: unknown): Html {
  return html`<code>${typeof value === "string" ? value : JSON.stringify(value)}</code>`;
}

type TypeDescription = { readonly label: HtmlPart; readonly isNullable: boolean; readonly values: readonly unknown[] };

export function describeType(document: OpenApiDocument, schema: Schema): TypeDescription {
  const name = schema.$ref?.match(/^#\/components\/schemas\/(.+)$/)?.[1];
  if (name !== undefined) {
    return { label: html`<a href="#${toAnchor("schema", name)}">${name}</a>`, isNullable: false, values: [] };
  }
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) {
    const described = variants.filter(({ type }) => type !== "null").map((variant) => describeType(document, variant));
    return {
      // Two constants of one type are one type with two values.
      label: join([...new Map(described.map(({ label }) => [String(label), label])).values()], " or "),
      isNullable: described.length < variants.length || described.some(({ isNullable }) => isNullable),
      values: described.flatMap(({ values }) => values),
    };
  }
  const types = [schema.type ?? []].flat();
  const labels = types.filter((type) => type !== "null").map((type) => describePlainType(document, schema, type));
  return {
    label: labels.length === 0 ? "any" : join(labels, " or "),
    isNullable: types.includes("null"),
    values: schema.enum ?? toList(schema.const),
  };
}

function describePlainType(document: OpenApiDocument, schema: Schema, type: string): HtmlPart {
  if (type === "array") return ["array of ", describeType(document, schema.items ?? {}).label];
  const record = findRecordValue(schema);
  if (type === "object" && record !== null) return ["object of ", describeType(document, record).label, " by name"];
  return schema.format === undefined ? type : `${type} (${schema.format})`;
}

/** The schema of the values where the names are not known beforehand. */
function findRecordValue({ additionalProperties, patternProperties }: Schema): Schema | null {
  if (typeof additionalProperties === "object") return additionalProperties;
  return Object.values(patternProperties ?? {})[0] ?? null;
}

function join(parts: readonly HtmlPart[], separator: string): HtmlPart {
  return parts.map((part, index) => (index === 0 ? part : [separator, part]));
}
