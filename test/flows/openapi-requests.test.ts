import assert from "node:assert/strict";
import { STATUS_CODES } from "node:http";
import { describe, test } from "node:test";
import fc from "fast-check";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { parseIsoInstant } from "../../src/server/lib/time/iso-instant.ts";
import { createTestApp } from "../support/app/app.ts";
import { openWire } from "../support/app/wire.ts";
import { makeKey, makeOrganization } from "../support/builders.ts";

// Requests generated from openapi.json: what it calls valid is not refused, what it calls invalid is not accepted, and every
// answer is described. Bodies are not generated: their fields are checked one by one, and named in the answer.

type Schema = {
  type?: string;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  items?: Schema;
};
type Parameter = { in: string; name: string; required?: boolean; schema: Schema; example?: unknown };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: object;
  responses: Record<string, Reference | { headers?: object }>;
};
type Reference = { $ref: string };

const { app, deps } = await createTestApp({ rateLimitApiPerMinute: 1_000_000 });
const { port } = await openWire(app);
const { key } = await makeKey(deps.db, await makeOrganization(deps.db, { plan: "business" }), { scopes: KEY_SCOPES });
const document = (await app.inject("/api/v1/openapi.json")).json() as {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, object>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** Every response has these. */
const USUAL_HEADERS =
  /^(content-|access-control-|cross-origin-|cache-control|connection|date|etag|keep-alive|transfer-encoding|vary|strict-transport|x-content|x-frame|referrer-policy|permissions-policy|x-robots)/;

function resolve(part: object): object {
  if (!("$ref" in part)) return part;
  const [kind = "", name = ""] = String(part.$ref).replace("#/components/", "").split("/");
  const found = document.components[kind]?.[name];
  assert.ok(found, String(part.$ref));
  return found;
}

async function ask(method: string, path: string, operation: Operation): Promise<number> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (operation.requestBody) headers["content-type"] = "application/json";
  const body = operation.requestBody ? { body: "{}" } : {};
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...body });
  await response.arrayBuffer();
  const asked = `${method} ${path}: ${response.status} ${STATUS_CODES[response.status]}`;
  assert.ok(response.status < 500, asked);
  const found = operation.responses[response.status];
  assert.ok(found, `${asked} is described`);
  const described = resolve(found) as { headers?: object };
  const names = Object.keys(described.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of response.headers.keys())
    assert.ok(USUAL_HEADERS.test(name) || names.includes(name), `${asked}: the header ${name} is described`);
  return response.status;
}

/** Opaque values come from an earlier answer, and no pattern tells which countries exist. */
const GIVEN: Record<string, readonly string[]> = { country: ["DE", "at", "(not set)"], notCountry: ["FR"] };
const isGenerated = ({ name, schema }: Parameter) => name !== "cursor" || parseable(schema);
const parseable = ({ pattern = "" }: Schema) => new RegExp(pattern).test("2026-11-01T09:30:00.000Z");

function valid({ name, schema }: Parameter): fc.Arbitrary<string[]> {
  const given = GIVEN[name];
  const one = given ? fc.constantFrom(...given) : validText(schema.items ?? schema);
  return schema.items ? fc.array(one, { minLength: 1, maxLength: schema.maxItems ?? 3 }) : one.map((text) => [text]);
}

function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String));
  if (schema.type === "integer")
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 10_000 }).map(String);
  // The period has at most 730 days, and the examples stand for all days in it.
  if (schema.format === "date") return fc.constantFrom("2026-11-01");
  if (schema.maxLength && schema.minLength)
    return fc.string({ minLength: schema.minLength, maxLength: schema.maxLength, unit: "grapheme-ascii" });
  assert.ok(schema.pattern, `a pattern for ${JSON.stringify(schema)}`);
  return fc.stringMatching(new RegExp(schema.pattern, "u"), { maxLength: schema.maxLength ?? 100 });
}

function invalid({ name, schema }: Parameter): string[][] {
  const one = schema.items ?? schema;
  const texts = ["", "\0", "!"].filter((text) => !fits(one, text)).map((text) => [text]);
  const outside = [(one.minimum ?? 0) - 1, (one.maximum ?? Number.NaN) + 1].filter((each) => !Number.isNaN(each));
  const many = GIVEN[name]?.[0] ?? String(one.enum?.[0] ?? "x");
  return [
    ...texts,
    ...(one.type === "integer" ? outside.map((each) => [String(each)]) : []),
    ...(one.maxLength ? [["x".repeat(one.maxLength + 1)]] : []),
    ...(schema.maxItems ? [Array<string>(schema.maxItems + 1).fill(many)] : [["1", "1"]]),
  ];
}

function fits(schema: Schema, text: string): boolean {
  if (schema.enum) return schema.enum.includes(text);
  if (schema.type === "integer") return false;
  return text.length >= (schema.minLength ?? 0) && new RegExp(schema.pattern ?? "", "u").test(text);
}

function toQuery(values: readonly (readonly [string, readonly string[]])[]): string {
  return new URLSearchParams(values.flatMap(([name, texts]) => texts.map((text) => [name, text]))).toString();
}

for (const { method, path, operation } of operations) {
  const parameters = operation.parameters ?? [];
  const inPath = parameters.filter((each) => each.in === "path");
  const inQuery = parameters.filter((each) => each.in === "query");
  const required = inQuery
    .filter((each) => each.required)
    .map((each) => [each.name, [String(each.schema.enum?.[0])]] as const);
  const fill = (texts: Record<string, string>) =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(texts[name] ?? ""));

  describe(`${method} ${path}`, () => {
    if (inPath.length > 0)
      test("finds nothing with an unknown ID, well formed or not", async () => {
        for (const { name, schema } of inPath) {
          assert.ok(schema.pattern, name);
          const texts = [
            ...fc.sample(fc.stringMatching(new RegExp(schema.pattern)), { numRuns: 5, seed: 42 }),
            "!",
            "%",
          ];
          for (const text of texts) {
            const status = await ask(method, fill({ [name]: text }), operation);
            assert.ok(status === 404 || (operation.requestBody && status === 422), `${text}: ${status}`);
          }
        }
      });
    else
      test("gives a described answer without parameters", async () => {
        const status = await ask(method, `${path}?${toQuery(required)}`, operation);
        assert.ok(method !== "GET" || status === 200, String(status));
      });

    if (inQuery.length === 0 || inPath.length > 0) return;
    test("accepts valid parameters", async () => {
      const generated = inQuery.filter(isGenerated);
      for (const parameter of generated)
        for (const texts of fc.sample(valid(parameter), { numRuns: 8, seed: 42 })) {
          const others = required.filter(([name]) => name !== parameter.name);
          const status = await ask(method, `${path}?${toQuery([...others, [parameter.name, texts]])}`, operation);
          assert.ok(status === 200 || status === 404, `${parameter.name}=${texts.join()}: ${status}`);
        }
    });

    test("refuses invalid parameters", async () => {
      for (const parameter of inQuery)
        for (const texts of invalid(parameter)) {
          const others = required.filter(([name]) => name !== parameter.name);
          const status = await ask(method, `${path}?${toQuery([...others, [parameter.name, texts]])}`, operation);
          assert.ok(status === 400 || status === 404, `${parameter.name}=${JSON.stringify(texts)}: ${status}`);
        }
    });
  });
}

test("the pattern of instants is what the server reads", () => {
  const since = document.paths["/api/v1/bookings"]?.["get"]?.parameters?.find(({ name }) => name === "since");
  const pattern = new RegExp(since?.schema.pattern ?? "");
  fc.assert(fc.property(fc.stringMatching(pattern), (text) => parseIsoInstant(text, "down") !== null));
  for (const text of [
    "2025-02-29",
    "1900-02-29",
    "2026-04-31",
    "2026-13-01",
    "0000-01-01",
    "2026-11-01T24:00",
    "2026-11-01Z",
    "",
  ])
    assert.deepEqual([pattern.test(text), parseIsoInstant(text, "down")], [false, null], text);
  for (const text of ["2024-02-29", "2000-02-29T23:59:59.5+02", "2026-11-01t09:30z"])
    assert.ok(pattern.test(text) && parseIsoInstant(text, "down"), text);
});
