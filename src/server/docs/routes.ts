import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply } from "fastify";
import { notBuilt, serveBrowserFiles } from "../http/pages/browser-files.ts";
import { html, renderHead } from "../http/pages/html.ts";
import { type DocsFrame, renderHeader, renderMenu } from "./docs-page.ts";
import { DOCS_ADDRESS, REFERENCE_ADDRESS } from "./documents.ts";
import { openLibrary, type Served } from "./library.ts";

const GUIDES_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  // The search reads /docs/passages.json.
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The same, with one relaxation: Scalar sets style attributes and adds style elements that carry no nonce. Injected
 * styles could not send anything anywhere, because every other source is our own origin.
 */
const REFERENCE_POLICY = GUIDES_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

const HTML_TYPE = "text/html; charset=utf-8";

/** The folder that contains docs/. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** GET /docs: the guides and the passages that the browser searches; /docs/api: the API reference. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const files = loadDocsFiles();
  if (!files) {
    for (const url of [DOCS_ADDRESS, `${DOCS_ADDRESS}/*`])
      app.get(url, { schema: { hide: true } }, async () => {
        throw notBuilt();
      });
    return;
  }
  await serveBrowserFiles(app, { folder: DOCS_FILES_FOLDER, address: DOCS_FILES_ADDRESS });
  const library = openLibrary({ root: ROOT, files: files.guides });
  const reference = renderReference(library.frame, files);

  app.get(REFERENCE_ADDRESS, { schema: { hide: true } }, async (_request, reply) =>
    reply.type(HTML_TYPE).header("content-security-policy", REFERENCE_POLICY).send(reference),
  );

  app.get(DOCS_ADDRESS, { schema: { hide: true } }, async (_request, reply) =>
    send(reply, await library.find(DOCS_ADDRESS)),
  );

  app.get<{ Params: { "*": string } }>(`${DOCS_ADDRESS}/*`, { schema: { hide: true } }, async (request, reply) => {
    const path = request.params["*"].replace(/\/$/, "");
    return send(reply, await library.find(`${DOCS_ADDRESS}/${path}`));
  });

  function send(reply: FastifyReply, served: Served | null): FastifyReply {
    const found = served ?? { type: HTML_TYPE, body: library.renderMissing() };
    return reply
      .code(served ? 200 : 404)
      .type(found.type)
      .header("content-security-policy", GUIDES_POLICY)
      .send(found.body);
  }
}

/** The API reference: our header, and Scalar below it. src/docs/reference/main.ts starts and configures Scalar. */
function renderReference(frame: DocsFrame, files: DocsFiles): string {
  return html`<!doctype html>
<html lang="en">
<head>
${renderHead("API reference · Bookflow docs", files.reference.stylesheets)}
<script defer src="${files.scalar}"></script>
<script type="module" src="${files.reference.script}"></script>
</head>
<body>
${renderHeader(frame, "API reference")}
${renderMenu(frame, { section: null, page: { address: REFERENCE_ADDRESS } })}
<noscript><p class="notice">The API reference needs JavaScript. The same contents are in the <a href="/api/v1/openapi.json">OpenAPI document</a>.</p></noscript>
<div id="reference"></div>
</body>
</html>
`.toString();
}

/** Where `npm run build` puts the scripts and styles of /docs, and the address they are served under. */
const DOCS_FILES_FOLDER = fileURLToPath(new URL("../../../dist/assets/docs/", import.meta.url));
const DOCS_FILES_ADDRESS = "/assets/docs/";

type PageFiles = { readonly script: string; readonly stylesheets: readonly string[] };

type DocsFiles = {
  readonly guides: PageFiles;
  readonly reference: PageFiles;
  /** The library that draws the API reference. */
  readonly scalar: string;
};

type Manifest = Record<string, { file: string; css?: string[] }>;

/** Null before the first build. */
function loadDocsFiles(): DocsFiles | null {
  const path = join(DOCS_FILES_FOLDER, "manifest.json");
  if (!existsSync(path)) return null;
  // Vite writes this file during our own build.
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  const toAddress = (file: string) => DOCS_FILES_ADDRESS + file;
  const find = (name: string): PageFiles => {
    const { file = "", css = [] } = manifest[name] ?? {};
    return { script: toAddress(file), stylesheets: css.map(toAddress) };
  };
  return {
    guides: find("src/docs/guides/main.ts"),
    reference: find("src/docs/reference/main.ts"),
    scalar: toAddress(manifest["scalar"]?.file ?? ""),
  };
}
