import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import type { OpenApiDocument } from "./openapi-document.ts";
import { renderReference } from "./render-reference.ts";

/** Nothing but our own stylesheet: no script runs on this page, whatever a description says. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

/** Sent as one, in this order. */
const STYLESHEETS = ["./reference.css", "./contents.css", "./tables.css", "./panels.css"];

/** GET /docs: the API reference, rendered from the OpenAPI document of the running service. */
export function referenceRoutes(app: FastifyInstance): void {
  const stylesheet = STYLESHEETS.map((name) => readFileSync(new URL(name, import.meta.url), "utf8")).join("\n");
  // A new stylesheet gets a new address, so that a page is never shown with the previous one.
  const version = createHash("sha256").update(stylesheet).digest("hex").slice(0, 8);
  const addresses = { stylesheet: `/docs/reference.css?v=${version}`, document: "/api/v1/openapi.json" };
  let page: string | null = null;

  app.get("/docs", { schema: { hide: true } }, async (_request, reply) => {
    // The document is complete once every route is mounted, and does not change after that. describeApi asks for
    // OpenAPI 3.1; the plugin's type allows the older versions too.
    page ??= renderReference(app.swagger() as OpenApiDocument, addresses);
    return reply.type("text/html; charset=utf-8").header("content-security-policy", CONTENT_SECURITY_POLICY).send(page);
  });

  app.get("/docs/reference.css", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(stylesheet),
  );
}
