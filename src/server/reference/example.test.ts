import assert from "node:assert/strict";
import { test } from "node:test";
import { toSchemaExample } from "../../../test/support/schema-example.ts";
import type { OpenApiDocument, Schema } from "./openapi-document.ts";

const document: OpenApiDocument = {
  info: { title: "Example", version: "1" },
  components: {
    schemas: {
      Tag: { type: "string", examples: ["autumn", "winter"] },
      Tree: {
        type: "object",
        required: ["leaf", "branches"],
        properties: {
          leaf: { type: "boolean" },
          branches: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
        },
      },
    },
  },
};

const cases: [schema: Schema, example: unknown][] = [
  [{ type: "string" }, "string"],
  [{ type: "string", examples: ["SVC-7KQ2MX"] }, "SVC-7KQ2MX"],
  [{ type: "string", format: "date" }, "2026-11-01"],
  [{ type: "string", const: "booking.created" }, "booking.created"],
  [
    {
      anyOf: [
        { type: "string", enum: ["active"] },
        { type: "string", enum: ["paused"] },
      ],
    },
    "active",
  ],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, null],
  [{ anyOf: [{ type: "string" }, { type: "null" }], examples: ["+49 30 1"] }, "+49 30 1"],
  [{ type: ["number", "null"] }, null],
  [{ type: "integer" }, 0],
  [{ type: "integer", minimum: 1 }, 1],
  [{ type: "integer", minimum: 1, default: 100 }, 100],
  [{ type: "array", items: { $ref: "#/components/schemas/Tag" } }, ["autumn"]],
  [{ type: "object", patternProperties: { "^.*$": { type: "string" } } }, {}],
  [{ $ref: "#/components/schemas/Tree" }, { leaf: true, branches: [] }],
];

test("an example is what the schema gives, else a value of its type", () => {
  for (const [schema, example] of cases) assert.deepEqual(toSchemaExample(document, schema), example);
});

test("an optional value without an example is left out", () => {
  const schema: Schema = {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string" },
      source: { type: "string", examples: ["google"] },
      gclid: { type: "string" },
      tag: { $ref: "#/components/schemas/Tag" },
      utm: { type: "object", properties: { term: { type: "string" } } },
    },
  };
  assert.deepEqual(toSchemaExample(document, schema), { name: "string", source: "google", tag: "autumn", utm: {} });
});

test("a reference to nothing is a bug of ours and stops the page", () => {
  assert.throws(() => toSchemaExample(document, { $ref: "#/components/schemas/Absent" }), /reference to nothing/);
});
