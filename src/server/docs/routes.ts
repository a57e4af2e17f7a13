import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply } from "fastify";
import { DOCS_ADDRESS } from "./docs-page.ts";
import { openLibrary, type Served } from "./library.ts";
import type { OpenApiDocument } from "../reference/openapi-document.ts";
import { REFERENCE_ADDRESS, renderReference } from "../reference/render-reference.ts";

/** Nothing but our own stylesheet and images: no script runs on these pages, whatever a document says. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

/** Sent as one, in this order. */
const STYLESHEETS = ["../reference/reference.css", "../reference/contents.css", "../reference/tables.css", "../reference/panels.css", "../../docs/guides/guides.css"];

/** The folder that docs/ lies in. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** GET /docs: the documents, and /docs/api: the API reference, rendered from the OpenAPI document of the running service. */
export function docsRoutes(app: FastifyInstance): void {
  const stylesheet = STYLESHEETS.map((name) => readFileSync(new URL(name, import.meta.url), "utf8")).join("\n");
  // A new stylesheet gets a new address, so that a page is never shown with the previous one.
  const version = createHash("sha256").update(stylesheet).digest("hex").slice(0, 8);
  const library = openLibrary({ root: ROOT, stylesheet: `/docs/docs.css?v=${version}` });
  let reference: string | null = null;

  app.get(REFERENCE_ADDRESS, { schema: { hide: true } }, async (_request, reply) => {
    // The document is complete once every route is mounted, and does not change after that. describeApi asks for
    // OpenAPI 3.1; the plugin's type allows the older versions too.
    reference ??= renderReference(app.swagger() as OpenApiDocument, library.frame, "/api/v1/openapi.json");
    return send(reply, { type: "text/html; charset=utf-8", body: reference });
  });

  app.get("/docs/docs.css", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=300").send(stylesheet),
  );

  app.get(DOCS_ADDRESS, { schema: { hide: true } }, async (_request, reply) => send(reply, library.find(DOCS_ADDRESS)));

  app.get<{ Params: { "*": string } }>(`${DOCS_ADDRESS}/*`, { schema: { hide: true } }, async (request, reply) => {
    const path = request.params["*"].replace(/\/$/, "");
    return send(reply, library.find(`${DOCS_ADDRESS}/${path}`));
  });

  function send(reply: FastifyReply, served: Served | null): FastifyReply {
    const found = served ?? { type: "text/html; charset=utf-8", body: library.renderMissing() };
    return reply
      .code(served ? 200 : 404)
      .type(found.type)
      .header("content-security-policy", CONTENT_SECURITY_POLICY)
      .send(found.body);
  }
}
