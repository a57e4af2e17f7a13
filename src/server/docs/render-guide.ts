import { type Html, type HtmlPart, html } from "../http/pages/html.ts";
import { type ContentsEntry, type DocsFrame, renderContents, renderDocsPage } from "./docs-page.ts";
import { DECISIONS_ADDRESS, DOCS_ADDRESS, type Document } from "./documents.ts";
import type { Heading, MarkdownPage } from "./markdown.ts";

/** A page with fewer headings needs no table of contents. */
const LISTED_HEADINGS_MIN = 3;

/** One document. A decision also lists the other decisions in the menu. */
export function renderGuide(
  frame: DocsFrame,
  guide: { address: string; page: MarkdownPage; siblings?: readonly ContentsEntry[] },
): string {
  const { page, siblings } = guide;
  const contents = toContents(page.headings);
  return renderDocsPage(frame, {
    title: page.title,
    address: guide.address,
    ...(siblings ? { parent: DECISIONS_ADDRESS, siblings } : {}),
    main: html`<div class="read">${page.headings.length < LISTED_HEADINGS_MIN ? null : renderOnThisPage(contents)}
<article class="guide">
${page.body}</article></div>`,
  });
}

/** Rendered twice; the stylesheet shows one: beside the text on wide screens, folded above it on narrow ones. */
function renderOnThisPage(contents: readonly ContentsEntry[]): HtmlPart {
  const list = renderContents(contents, "");
  return html`<nav class="beside" aria-label="On this page"><p class="group">On this page</p>${list}</nav>
<details class="above"><summary>On this page</summary><nav aria-label="On this page, folded">${list}</nav></details>`;
}

function toContents(headings: readonly Heading[]): ContentsEntry[] {
  const contents: (ContentsEntry & { entries: ContentsEntry[] })[] = [];
  for (const { depth, title, anchor } of headings) {
    const entry = { title, address: `#${anchor}`, entries: [] };
    const above = contents.at(-1);
    if (depth <= 2 || !above) contents.push(entry);
    else if (depth === 3) above.entries.push(entry);
  }
  return contents;
}

export function renderIndex(frame: DocsFrame): string {
  return renderDocsPage(frame, {
    title: "Documentation",
    address: DOCS_ADDRESS,
    main: html`<div class="index">
<h1>Bookflow documentation</h1>
<p class="lead">Put booking widgets on your website, see which channels bring bookings, and send every booking to your own
systems.</p>
${frame.sections.map(
  ({ title, purpose, documents, isForCustomers }) => html`<section class="shelf"><h2>${title}</h2><p>${purpose}</p>
<ul class="${isForCustomers ? "cards" : "rows"}">${documents.map(renderCard)}</ul></section>`,
)}
</div>`,
  });
}

function renderCard({ address, title, purpose }: Document): Html {
  return html`<li><a href="${address}">${title}</a><p>${purpose}</p></li>\n`;
}

export function renderDecisions(frame: DocsFrame, decisions: readonly ContentsEntry[]): string {
  return renderDocsPage(frame, {
    title: "Decisions",
    address: DECISIONS_ADDRESS,
    main: html`<div class="read"><article class="guide">
<h1>Decisions</h1>
<p>Why things are the way they are. Each page gives the context, the choice and its consequences.</p>
${renderContents(decisions, "")}
</article></div>`,
  });
}
