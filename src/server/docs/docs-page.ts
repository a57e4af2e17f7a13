import { type Html, type HtmlPart, html, renderHead } from "../http/html.ts";

/** A line of a list of contents, with the lines below it. */
export type ContentsEntry = {
  readonly title: string;
  readonly address: string;
  readonly entries?: readonly ContentsEntry[];
};

/** The documents by what a reader wants to do, and where each is served. */
type DocumentGroup = { readonly title: string; readonly entries: readonly ContentsEntry[] };

export type DocsFrame = {
  readonly stylesheet: string;
  readonly groups: readonly DocumentGroup[];
};

type DocsPage = {
  readonly title: string;
  /** The address of the page itself. */
  readonly address: string;
  /** Of the document that the page is a part of. */
  readonly parent?: string;
  /** What stands below the page's line, or its parent's, in the list of documents. */
  readonly contents?: readonly ContentsEntry[];
  readonly main: HtmlPart;
  readonly foot: HtmlPart;
};

export const DOCS_ADDRESS = "/docs";

/** What every page at /docs shares: one HTML document without scripts or inline styles. */
export function renderDocsPage(frame: DocsFrame, page: DocsPage): string {
  // The list of documents is there twice, and the stylesheet shows one: beside the text on wide screens, else folded above
  // it. The bar's link leads into the folded list, which makes browsers unfold it.
  return html`<!doctype html>
<html lang="en">
<head>
${renderHead(`${page.title} · Bookflow`, [frame.stylesheet])}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="side">
<a class="brand" href="${DOCS_ADDRESS}">Bookflow <span>documents</span></a>
<nav class="wide" aria-label="Documents">${renderGroups(frame, page)}</nav>
<a class="unfold" href="#documents">Menu</a>
</header>
<main id="content" tabindex="-1">
<details class="narrow">
<summary>All documents</summary>
<nav id="documents" aria-label="All documents">${renderGroups(frame, page)}</nav>
</details>
${page.main}
</main>
<footer>${page.foot}</footer>
</body>
</html>
`.toString();
}

function renderGroups({ groups }: DocsFrame, page: DocsPage): HtmlPart {
  const open = page.parent ?? page.address;
  return groups.map(
    ({ title, entries }) => html`<p class="group">${title}</p>
${renderContents(
  entries.map((entry) => (entry.address === open ? { ...entry, entries: page.contents ?? [] } : entry)),
  page.address,
)}
`,
  );
}

/** `current` is the address of the page that the list is on. */
export function renderContents(entries: readonly ContentsEntry[], current: string): Html | null {
  if (entries.length === 0) return null;
  return html`<ul>${entries.map(
    ({ title, address, entries: below = [] }) =>
      html`<li>${
        address === current
          ? html`<a href="${address}" aria-current="page">${title}</a>`
          : html`<a href="${address}">${title}</a>`
      }${renderContents(below, current)}</li>\n`,
  )}</ul>`;
}
