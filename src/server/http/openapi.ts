import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { API_TAGS, API_VERSION } from "#contract/read-routes.ts";
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
        ? addCodeSamples(nameSchemas(document.openapiObject, webhooks), config.baseUrl)
        : document.swaggerObject,
  });
}

export function openApiRoutes(app: FastifyInstance): void {
  app.get("/api/v1/openapi.json", { schema: { hide: true } }, async () => app.swagger());
}

type JsonObject = Record<string, unknown>;

/** Moves every schema that has a title to components and leaves a reference, so that generated clients get named types. */
function nameSchemas<Document extends { components?: object; paths?: object }>(
  document: Document,
  namedWebhooks: object,
): Document {
  const schemas: Record<string, unknown> = {};
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== "object" || node === null) return node;
    const { title, ...rest } = node as JsonObject;
    const visited = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, visit(value)]));
    if (typeof title !== "string" || !("type" in visited)) return title === undefined ? visited : { title, ...visited };
    // A titled schema's description repeats that of its response.
    const { description: _ofTheAnswer, ...schema } = visited;
    schemas[title] = { title, ...schema };
    return { $ref: `#/components/schemas/${title}` };
  };
  const paths = visit(document.paths ?? {});
  const webhooks = visit(namedWebhooks);
  return { ...document, paths, webhooks, components: { ...document.components, schemas } };
}
