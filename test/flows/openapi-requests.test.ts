import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { KEY_SCOPES } from "#contract/scopes.ts";
import { parseIsoInstant } from "../../src/server/lib/time/iso-instant.ts";
import { type Given, invalidValues, type Schema, validTexts, validValues } from "../support/app/schema-values.ts";
import { fillIn, prepareThings, type Things } from "../support/app/things.ts";
import { openWire } from "../support/app/wire.ts";
import { makeKey, makeOrganization } from "../support/builders.ts";
import { createWebhookService } from "../support/webhooks/webhook-service.ts";

// Requests generated from openapi.json: what it calls valid is not refused, what it calls invalid is not accepted, and every
// answer is described.

type Parameter = { in: string; name: string; required?: boolean; schema: Schema };
type Operation = {
  operationId: string;
  parameters?: Parameter[];
  description?: string;
  requestBody?: { required: boolean; content: { "application/json": { schema: Schema; example?: object } } };
  responses: Record<string, { headers?: object; content?: { "application/json"?: { schema: TSchema } } }>;
};

/** Generated values for each parameter, set of parameters, and body. */
const CASES = 4;

const MANY = 1_000_000;
/** No ID is longer than 100 characters. */
const LONG = "x".repeat(5_000);
const service = await createWebhookService({
  rateLimitApiPerMinute: MANY,
  maxWidgets: MANY,
  maxApiKeys: MANY,
  maxConnections: MANY,
  maxEndpoints: MANY,
});
const { app, deps } = service;
const { port } = await openWire(app);
const owner = await makeOrganization(deps.db, { plan: "business" });
const { key } = await makeKey(deps.db, owner, { scopes: KEY_SCOPES });
const { makeThings, makeNamed, receiver, calcom } = await prepareThings(service);
const document = resolve((await app.inject("/api/v1/openapi.json")).json()) as {
  paths: Record<string, Record<string, Operation>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** The document with each reference replaced by what it stands for. */
function resolve(root: Record<string, unknown>): unknown {
  const visit = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part !== "object" || part === null) return part;
    if (!("$ref" in part)) return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, visit(value)]));
    const names = String(part.$ref).slice(2).split("/");
    const found = names.reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], root);
    assert.ok(found, String(part.$ref));
    return visit(found);
  };
  return visit(root);
}

/** Every response has these. */
const USUAL_HEADERS =
  /^(content-|access-control-|cross-origin-|cache-control|connection|date|etag|keep-alive|transfer-encoding|vary|strict-transport|x-content|x-frame|referrer-policy|permissions-policy|x-robots)/;

async function ask(
  method: string,
  path: string,
  operation: Operation,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<number> {
  const isText = typeof body === "string";
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const asked = `${method} ${path} ${JSON.stringify(body)}: ${response.status} ${text.slice(0, 300)}`;
  assert.ok(response.status < 500, asked);
  const described = operation.responses[response.status];
  assert.ok(described, `${asked} is described`);
  const names = Object.keys(described.headers ?? {}).map((name) => name.toLowerCase());
  for (const name of response.headers.keys())
    assert.ok(USUAL_HEADERS.test(name) || names.includes(name), `${asked}: the header ${name} is described`);
  const schema = described.content?.["application/json"]?.schema;
  if (response.status === 204) assert.equal(text, "", asked);
  else requireShape(schema, { asked, type: response.headers.get("content-type"), text });
  return response.status;
}

const shapes = new Map<TSchema, Validator>();

/** The answer has the media type and the schema that the document says. */
function requireShape(
  schema: TSchema | undefined,
  { asked, type, text }: { asked: string; type: string | null; text: string },
): void {
  assert.ok(schema, `${asked}: a schema`);
  assert.match(String(type), /^application\/json\b/, asked);
  const shape = shapes.get(schema) ?? Compile(schema);
  shapes.set(schema, shape);
  const value: unknown = JSON.parse(text);
  assert.ok(shape.Check(value), `${asked}: ${JSON.stringify(shape.Errors(value))}`);
}

/** Opaque values come from an earlier answer, and no pattern tells which countries exist. */
const GIVEN: Record<string, readonly string[]> = { country: ["DE", "at", "(not set)"], notCountry: ["FR"] };
const isGenerated = ({ schema }: Parameter) => schema.pattern !== "^[A-Za-z0-9_-]+$";

function valid({ name, schema }: Parameter, most = schema.maxItems ?? 3): fc.Arbitrary<string[]> {
  const given = GIVEN[name];
  const one = given ? fc.constantFrom(...given) : validText(schema.items ?? schema);
  return schema.items ? fc.array(one, { minLength: 1, maxLength: most }) : one.map((text) => [text]);
}

function validText(schema: Schema): fc.Arbitrary<string> {
  if (schema.enum) return fc.constantFrom(...schema.enum.map(String));
  if (schema.type === "integer")
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 10_000 }).map(String);
  // The period has at most 730 days, and the examples stand for all days in it.
  if (schema.format === "date") return fc.constantFrom("2026-11-01");
  return schema.minLength
    ? fc.string({ minLength: schema.minLength, maxLength: schema.maxLength ?? 100, unit: "grapheme-ascii" })
    : validTexts(schema, "parameter");
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

/** What can't be read from the schemas of bodies: what exists, and what fits together. */
function givenFor(operationId: string, things: Things): Given {
  const link = [null, "", "https://lindenhof.example/book"];
  return {
    connectionId: [things.connection],
    widgetIds: [null, [things.widget]],
    endpoint: [things.endpoint],
    widget: [things.widget],
    kind: [operationId === "addConnection" ? "calcom" : "webhook"],
    ...calcomGiven,
    url: [receiver.url],
    headers: [{}, { "X-Api-Key": "abc" }],
    timeZone: ["Europe/Berlin", "UTC"],
    expiresAt: [null, "2030-12-31"],
    bookingUrl: link,
    thankYouUrl: link,
    privacyUrl: link,
    fontFamily: [null, "", "Georgia"],
    allowedDomains: [[], ["lindenhof.example", "*.lindenhof.example:8443"]],
    from: ["2026-11-01", "2026-11-01T09:30Z"],
    to: ["2026-11-02"],
    book: [false],
    was: [{}],
  };
}
const calcomGiven = { settings: [calcom.parts.settings], credentials: [calcom.parts.credentials] };

const shared = await makeThings(owner, "business");
for (const { method, path, operation } of operations) {
  // What one operation changes or deletes isn't there for the next.
  const own = method === "GET" ? {} : await makeNamed(owner, "business", path);
  const things = { ...shared, ...own };
  const parameters = operation.parameters ?? [];
  const inPath = parameters.filter((each) => each.in === "path");
  const inQuery = parameters.filter((each) => each.in === "query");
  const hasIdempotencyKey = parameters.some((each) => each.in === "header" && each.name === "Idempotency-Key");
  const required = inQuery
    .filter((each) => each.required)
    .map((each) => [each.name, [String(each.schema.enum?.[0])]] as const);
  const { schema, example } = operation.requestBody?.content["application/json"] ?? {};

  describe(`${method} ${path}`, () => {
    const given = givenFor(operation.operationId, things);
    const address = fillIn(path, things);
    const bodies = schema ? fc.sample(validValues(schema, given), { numRuns: CASES, seed: 42 }) : [];

    for (const { name, schema: form } of inPath)
      test(`finds nothing with an unknown ID of the ${name}, well formed or not`, async () => {
        assert.ok(form.pattern, name);
        const unknown = fc.sample(fc.stringMatching(new RegExp(form.pattern)), { numRuns: CASES, seed: 42 });
        for (const text of [...unknown, "!", "%", "\0", " ", "../widgets", LONG]) {
          const other = fillIn(path, { ...things, [name]: encodeURIComponent(text) });
          assert.equal(await ask(method, other, operation, bodies[0]), text === LONG ? 400 : 404, text);
        }
      });

    test("accepts valid parameters", async () => {
      if (method === "GET") assert.equal(await ask(method, `${address}?${toQuery(required)}`, operation), 200);
      for (const parameter of inQuery.filter(isGenerated))
        for (const texts of fc.sample(valid(parameter), { numRuns: CASES, seed: 42 })) {
          const others = required.filter(([name]) => name !== parameter.name);
          const status = await ask(method, `${address}?${toQuery([...others, [parameter.name, texts]])}`, operation);
          assert.ok(status === 200 || status === 404, `${parameter.name}=${texts.join()}: ${status}`);
        }
    });

    test("accepts valid parameters together", async () => {
      const some = inQuery.filter(isGenerated).map((each) => [each.name, valid(each, 2)] as const);
      const requiredKeys = required.map(([name]) => name);
      const sets = fc.record<Record<string, string[]>>(Object.fromEntries(some), { requiredKeys });
      for (const { days = [], ...others } of fc.sample(sets, { numRuns: some.length < 2 ? 0 : CASES, seed: 42 })) {
        // The description says that they exclude each other.
        const isPeriod = "from" in others || "to" in others || days.length === 0;
        const values = Object.entries(isPeriod ? others : { ...others, days });
        const status = await ask(method, `${address}?${toQuery(values)}`, operation);
        assert.ok(status === 200 || status === 404, `${JSON.stringify(values)}: ${status}`);
      }
    });

    if (hasIdempotencyKey)
      test("accepts valid Idempotency-Keys, and refuses invalid ones", async () => {
        const texts = fc.string({ minLength: 1, maxLength: 255, unit: "grapheme-ascii" });
        const keys = texts.filter((text) => text.trim() !== "" && text === text.trim());
        for (const text of fc.sample(keys, { numRuns: CASES, seed: 42 }))
          assert.notEqual(await ask(method, address, operation, bodies[0], { "idempotency-key": text }), 400, text);
        for (const text of ["", " ", "x".repeat(256)])
          assert.equal(await ask(method, address, operation, bodies[0], { "idempotency-key": text }), 400, text);
      });

    test("refuses invalid parameters", async () => {
      for (const parameter of inQuery)
        for (const texts of invalid(parameter)) {
          const others = required.filter(([name]) => name !== parameter.name);
          const status = await ask(method, `${address}?${toQuery([...others, [parameter.name, texts]])}`, operation);
          assert.ok(status === 400 || status === 404, `${parameter.name}=${JSON.stringify(texts)}: ${status}`);
        }
    });

    if (!schema && method !== "GET")
      test("accepts a media type without a body", async () => {
        const status = await ask(method, address, operation, undefined, { "content-type": "application/json" });
        assert.ok(status !== 400, String(status));
      });

    if (!schema) return;
    test("accepts valid bodies, and the example as it is", async () => {
      const isPlain = Object.keys(schema.properties ?? {}).length < 3;
      assert.ok(example || isPlain || operation.operationId === "tryFilters", "an example");
      for (const body of [...bodies, ...(example ? [{ ...example, ...realParts(operation) }] : [])])
        assert.ok((await ask(method, address, operation, body)) < 300, JSON.stringify(body));
    });

    test("refuses what is not a JSON object, or not JSON, or too large", async () => {
      for (const text of ["", "{", "null", "[]", '"{}"', "1", '{"a":1}}'])
        assert.equal(await ask(method, address, operation, text), 400, text);
      const types = ["text/plain", "application/xml", "multipart/form-data; boundary=x"];
      for (const type of types)
        assert.equal(await ask(method, address, operation, "{}", { "content-type": type }), 400, type);
      assert.equal(await ask(method, address, operation, `"${"x".repeat(70_000)}"`), 413);
    });

    test("refuses invalid bodies", async () => {
      for (const body of bodies.slice(0, 2))
        for (const wrong of invalidValues(schema, body)) {
          const status = await ask(method, address, operation, wrong);
          assert.equal(status, Array.isArray(wrong) || wrong === null ? 400 : 422, JSON.stringify(wrong));
        }
    });
  });
}

/** The examples' account and address don't exist. */
function realParts({ operationId }: Operation): object {
  if (operationId === "addConnection") return calcom.parts;
  return operationId === "addEndpoint" ? { url: receiver.url } : {};
}

test("every body refuses fields that it does not name", () => {
  const bodies = operations.flatMap(({ operation }) => operation.requestBody?.content["application/json"].schema ?? []);
  assert.ok(bodies.length > 10);
  for (const body of bodies) assert.equal(body.additionalProperties, false, JSON.stringify(body));
});

test("queries in descriptions are accepted as they are", async () => {
  const queries = operations.flatMap(({ method, path, operation }) =>
    [...(operation.description ?? "").matchAll(/`(\?[^`]+)`/g)].map(([, query = ""]) => {
      return { method, path, operation, query };
    }),
  );
  assert.ok(queries.some(({ query }) => query.includes("from=") && query.includes("to=")));
  for (const { method, path, operation, query } of queries)
    assert.equal(await ask(method, path + query, operation), 200, query);
});

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
