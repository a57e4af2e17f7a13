import { html, renderHead } from "../http/pages/html.ts";
import type { DocsFiles } from "./docs-files.ts";
import { type DocsFrame, renderHeader, renderMenu } from "./docs-page.ts";
import { REFERENCE_ADDRESS } from "./documents.ts";

/** The API reference: our header, and Scalar below it. src/docs/reference/main.ts starts and configures Scalar. */
export function renderReference(frame: DocsFrame, files: DocsFiles): string {
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
