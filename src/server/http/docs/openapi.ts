import { STATUS_CODES } from "node:http";
import { isDeepStrictEqual } from "node:util";
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { API_TAGS, API_VERSION } from "#contract/read-routes.ts";
import { assert } from "../../lib/assert.ts";
import { addCodeSamples } from "./code-samples.ts";

// OpenAPI 3.1 from the routes' own schemas. scripts/generate.ts writes the same document to openapi.json.

const DESCRIPTION = `The widgets, stored bookings and analytics of one organization, for scheduled pulling, and what its admins manage.

Every request needs the header \`Authorization: Bearer <API_KEY>\`. The scopes of a key say what it
can do; with \`bookings\`, that includes customers' contact details. Use keys from a server, never in browser code.

Admins create keys under API keys in the dashboard. The examples read yours from the variable \`KEY\`: \`export KEY=svc_live_…\`.`;

export async function describeApi(
  app: FastifyInstance,
  config: { baseUrl: string },
  { webhooks }: { webhooks: object },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Bookflow API", version: API_VERSION, description: DESCRIPTION, license: { name: "MIT" } },
      servers: [{ url: config.baseUrl }],
      tags: API_TAGS.map((name) => ({ name })),
      components: {
        securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "An API key, `svc_live_…`." } },
      },
      security: [{ apiKey: [] }],
    },
    transformObject: (document) =>
      "openapiObject" in document
        ? addCodeSamples(nameParts(document.openapiObject, webhooks), config.baseUrl)
        : document.swaggerObject,
  });
}

export function openApiRoutes(app: FastifyInstance): void {
  let text: string | null = null;
  app.get("/api/v1/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(app.swagger());
    return reply.type("application/json; charset=utf-8").send(text);
  });
}

type JsonObject = Record<string, unknown>;

/**
 * Moves what operations share to components and leaves references: schemas with a title, so that generated clients get named types,
 * errors, which are the same for all operations, and headers.
 */
function nameParts<Document extends { components?: object; paths?: object }>(
  document: Document,
  namedWebhooks: object,
): Document {
  const named = { schemas: new Shared("schemas"), responses: new Shared("responses"), headers: new Shared("headers") };
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== "object" || node === null) return node;
    const { title, ...rest } = toPlain(node as JsonObject);
    const visited = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, visit(value)]));
    if (typeof title !== "string" || !("type" in visited)) return title === undefined ? visited : { title, ...visited };
    // A titled schema's description repeats that of its response.
    const { description: _ofTheResponse, ...schema } = visited;
    return named.schemas.add(title, { title, ...schema });
  };
  const nameHeaders = ({ headers = {}, ...response }: Response) => ({
    ...response,
    headers: mapValues(headers, (header, name) => named.headers.add(name, header)),
  });
  const nameResponse = (response: Response, status: string) =>
    Number(status) < 400
      ? nameHeaders(response)
      : named.responses.add((STATUS_CODES[status] ?? status).replaceAll(" ", ""), nameHeaders(response));
  const paths = mapValues(visit(document.paths ?? {}) as Paths, (operations) =>
    mapValues(operations, ({ responses, ...operation }) => ({
      ...operation,
      responses: mapValues(responses, nameResponse),
    })),
  );
  const webhooks = visit(namedWebhooks);
  const components = mapValues(named, ({ parts }) => parts);
  return { ...document, paths, webhooks, components: { ...document.components, ...components } };
}

/** As @fastify/swagger writes schemas of routes, so that those of webhooks are the same. */
function toPlain({ const: only, patternProperties, ...schema }: JsonObject): JsonObject {
  const [any] = Object.values(patternProperties ?? {});
  return {
    ...schema,
    ...(only === undefined ? {} : { enum: [only] }),
    ...(any === undefined ? {} : { additionalProperties: any }),
  };
}

type Response = { headers?: Record<string, object> };
type Paths = Record<string, Record<string, { responses: Record<string, Response> }>>;

/** Parts by name. One name never stands for two parts. */
class Shared {
  readonly parts: Record<string, object> = {};
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  add(name: string, part: object): object {
    this.parts[name] ??= part;
    assert(isDeepStrictEqual(this.parts[name], part), "a name stands for one part");
    return { $ref: `#/components/${this.#kind}/${name}` };
  }
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From, name: string) => To) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));
}
