import { type Html, type HtmlPart, html, renderHead } from "../http/pages/html.ts";
import { DOCS_ADDRESS, type Document, REFERENCE_ADDRESS, type Section } from "./documents.ts";

export type ContentsEntry = {
  readonly title: string;
  readonly address: string;
  readonly entries?: readonly ContentsEntry[];
};

export type DocsFrame = {
  readonly script: string;
  readonly stylesheets: readonly string[];
  readonly sections: readonly Section[];
};

type DocsPage = {
  readonly title: string;
  readonly address: string;
  /** The address of the page this one belongs to, if the menu lists that page instead. */
  readonly parent?: string;
  /** Listed in the menu below the page, or below its parent. */
  readonly siblings?: readonly ContentsEntry[];
  readonly main: HtmlPart;
};

/** The page around every guide. It works without its script, which adds copy buttons and the search. */
export function renderDocsPage(frame: DocsFrame, page: DocsPage): string {
  const open = page.parent ?? page.address;
  const section = frame.sections.find(({ documents }) => documents.some(({ address }) => address === open)) ?? null;
  return html`<!doctype html>
<html lang="en">
<head>
${renderHead(`${page.title} · Bookflow docs`, frame.stylesheets)}
<script type="module" src="${frame.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${renderHeader(frame, section?.title)}
${renderMenu(frame, { section, page })}
<main id="content" tabindex="-1">
${page.main}
</main>
</body>
</html>
`.toString();
}

/** Not a header element, since Scalar has its own. `current` is the title of the reader's tab. */
export function renderHeader({ sections }: Pick<DocsFrame, "sections">, current: string | undefined): Html {
  return html`<section class="bar" aria-label="Bookflow docs">
<button class="menu-button" type="button" popovertarget="menu">Menu</button>
<a class="brand" href="${DOCS_ADDRESS}"><svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false"><rect width="32" height="32" rx="9"/><path d="M8.5 10.5h15M8.5 16h10.5M8.5 21.5h5.5"/></svg>Bookflow <span>Docs</span></a>
<nav class="tabs" aria-label="Sections">${listTabs(sections).map(({ title, address }) =>
    title === current
      ? html`<a href="${address}" aria-current="true">${title}</a>`
      : html`<a href="${address}">${title}</a>`,
  )}</nav>
<form class="search" role="search"><input type="search" placeholder="Search guides" aria-label="Search guides" autocomplete="off" maxlength="100"></form>
</section>`;
}

/** On wide screens, a column with the documents of one section. On narrow ones, a popover that also lists the sections. */
export function renderMenu(
  { sections }: Pick<DocsFrame, "sections">,
  { section, page }: { section: Section | null; page: Pick<DocsPage, "address" | "parent" | "siblings"> },
): Html {
  const open = page.parent ?? page.address;
  const toEntry = ({ title, address }: Document): ContentsEntry => ({
    title,
    address,
    entries: address === open ? (page.siblings ?? []) : [],
  });
  return html`<nav class="menu" id="menu" popover aria-label="${section?.title ?? "Menu"}">
${section ? html`<div class="documents"><p class="group">${section.title}</p>${renderContents(section.documents.map(toEntry), page.address)}</div>` : null}
<div class="sections"><p class="group">All sections</p>${renderContents(listTabs(sections), page.address)}</div>
</nav>`;
}

function listTabs(sections: readonly Section[]): ContentsEntry[] {
  const tabs = sections.flatMap(({ title, documents: [first] }) => (first ? [{ title, address: first.address }] : []));
  return [...tabs, { title: "API reference", address: REFERENCE_ADDRESS }];
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
