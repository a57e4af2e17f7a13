import { type Html, type HtmlPart, html } from "../http/html.ts";
import { type ContentsEntry, DOCS_ADDRESS, type DocsFrame, renderContents, renderDocsPage } from "./docs-page.ts";
import { DECISIONS_ADDRESS, type Shelf } from "./documents.ts";
import type { Heading, MarkdownPage } from "./markdown.ts";

/** Fewer headings than this are seen at a glance, without a list. */
const LISTED_HEADINGS_MIN = 3;

/** One document. `siblings` are listed around it where it is one of many of a kind. */
export function renderGuide(
  frame: DocsFrame,
  guide: { address: string; page: MarkdownPage; siblings?: readonly ContentsEntry[] },
): string {
  const { page, siblings } = guide;
  const contents = toContents(page.headings);
  return renderDocsPage(frame, {
    title: page.title,
    address: guide.address,
    ...(siblings ? { parent: DECISIONS_ADDRESS, contents: siblings } : {}),
    main: html`<div class="read">${page.headings.length < LISTED_HEADINGS_MIN ? null : renderOnThisPage(contents)}
<article class="guide">
${page.body}</article></div>`,
    foot: null,
  });
}

/** There twice, and the stylesheet shows one: beside the text where there is room, else folded above it. */
function renderOnThisPage(contents: readonly ContentsEntry[]): HtmlPart {
  const list = renderContents(contents, "");
  return html`<nav class="beside" aria-label="On this page"><p class="group">On this page</p>${list}</nav>
<details class="above"><summary>On this page</summary><nav aria-label="Sections">${list}</nav></details>`;
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

/** What a reader wants to do, and the guide for it; below, what is looked up. */
export function renderIndex(frame: DocsFrame, shelves: readonly Shelf[]): string {
  const documents = shelves.flatMap((shelf) => shelf.documents);
  return renderDocsPage(frame, {
    title: "Documents",
    address: DOCS_ADDRESS,
    main: html`<div class="index">
<h1>What do you want to do?</h1>
<p class="lead">Bookflow puts booking widgets on websites, shows which channels bring bookings, and delivers each booking to your own
systems.</p>
<ul class="cards wishes">${documents.map(({ address, wish, purpose }) =>
      wish === null ? null : renderCard({ address, title: wish, purpose }),
    )}</ul>
<h2>To look up</h2>
<ul class="cards">${documents.map((document) => (document.wish === null ? renderCard(document) : null))}</ul>
</div>`,
    foot: html`<p>The same documents are in the folder <code>docs/</code> of Bookflow's source.</p>`,
  });
}

function renderCard({ address, title, purpose }: { address: string; title: string; purpose: string }): Html {
  return html`<li><a href="${address}">${title}</a><p>${purpose}</p></li>\n`;
}

export function renderDecisions(frame: DocsFrame, decisions: readonly ContentsEntry[]): string {
  return renderDocsPage(frame, {
    title: "Decisions",
    address: DECISIONS_ADDRESS,
    main: html`<article class="guide">
<h1>Decisions</h1>
<p>Why things are as they are: one page each, with what was considered and what follows.</p>
${renderContents(decisions, "")}
</article>`,
    foot: null,
  });
}
