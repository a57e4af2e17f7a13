import type { Language } from "#contract/widgets/languages.ts";
import { type Html, html, renderHead } from "../http/pages/html.ts";
import type { BookableWidget } from "../widgets/widgets.ts";
import type { FrameFiles } from "./frame-files.ts";
import { PAGE_TEXTS } from "./page-texts.ts";

export type PageKind = "embed" | "direct";

/** Sent as soon as the widget is known; its configuration may need the scheduling system, so scripts fetch it. */
export function renderFramePage(page: {
  kind: PageKind;
  widget: BookableWidget;
  /** For browsers without JavaScript. Null if it is this page. */
  bookingUrl: string | null;
  language: Language;
  files: FrameFiles;
}): string {
  const { kind, widget, language, files } = page;
  const texts = PAGE_TEXTS[language];
  const textsFile = files.texts[language];
  return renderDocument({
    language,
    title: texts.book(widget.businessName),
    attributes: html` data-page="${kind}" data-template="${widget.template}"`,
    head: html`<link rel="preload" as="fetch" crossorigin href="/embed-api/${widget.id}/config">
${textsFile === undefined ? null : html`<link rel="modulepreload" href="${textsFile}">`}
<script type="module" src="${files.script}"></script>`,
    stylesheets: files.stylesheets,
    body: html`<main id="frame" data-widget="${widget.id}" data-accent="${widget.accentColor ?? ""}" data-radius="${widget.options.cornerRadius ?? ""}" data-font="${widget.options.fontFamily ?? ""}" data-language="${widget.options.language ?? ""}">
<p class="starting" role="status">${texts.loading}</p>
<noscript><p>${texts.needsScript}</p>${page.bookingUrl === null ? null : html`<p><a href="${page.bookingUrl}" target="_top">${texts.bookElsewhere}</a></p>`}</noscript>
</main>`,
  });
}

export function renderUnknownPage(page: { kind: PageKind; language: Language; files: FrameFiles }): string {
  const texts = PAGE_TEXTS[page.language];
  return renderDocument({
    language: page.language,
    title: texts.unknownTitle,
    attributes: html` data-page="${page.kind}" data-template="classic"`,
    head: html`<script type="module" src="${page.files.script}"></script>`,
    stylesheets: page.files.stylesheets,
    body: html`<main id="frame"><div class="card"><div class="body"><h1>${texts.unknownTitle}</h1><p>${texts.unknown}</p></div></div></main>`,
  });
}

function renderDocument(page: {
  language: Language;
  title: string;
  attributes: Html;
  head: Html;
  stylesheets: readonly string[];
  body: Html;
}): string {
  return html`<!doctype html>
<html lang="${page.language}"${page.attributes}>
<head>
${renderHead(page.title, page.stylesheets)}
${page.head}
</head>
<body>
${page.body}
</body>
</html>
`.toString();
}
