import { readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { html } from "../http/html.ts";
import { DOCS_ADDRESS, type DocsFrame, renderDocsPage } from "./docs-page.ts";
import { DECISIONS_ADDRESS, listDecisions, listPlainFiles, listShelves, type Shelf } from "./documents.ts";
import { type MarkdownPage, renderMarkdown } from "./markdown.ts";
import { renderDecisions, renderGuide, renderIndex } from "./render-guide.ts";

/** What is answered at an address. */
export type Served = { readonly type: string; readonly body: string | Buffer };

type Library = {
  readonly frame: DocsFrame;
  /** Null where nothing is served. */
  find(address: string): Served | null;
  renderMissing(): string;
};

const PAGE_TYPE = "text/html; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = { ".png": "image/png", ".json": "application/json; charset=utf-8" };

/** Everything below /docs but the API reference. Which addresses there are is known at once; pages are made when asked for. */
export function openLibrary({ root, stylesheet }: { root: string; stylesheet: string }): Library {
  const shelves = listShelves(root);
  const decisions = listDecisions(root);
  const frame: DocsFrame = { stylesheet, groups: toGroups(shelves) };
  const guides = shelves.flatMap(({ documents }) =>
    documents.flatMap(({ address, file }) => (file === null ? [] : { address, file })),
  );
  const plainFiles = listPlainFiles(root);
  const addresses = new Map([...guides, ...decisions, ...plainFiles].map(({ file, address }) => [file, address]));
  addresses.set("docs/decisions", DECISIONS_ADDRESS);

  const read = (file: string): MarkdownPage =>
    renderMarkdown(readFileSync(join(root, file), "utf8"), (href) => toAddress(addresses, file, href));
  const listTitles = () =>
    decisions.map(({ file, address }) => ({ title: read(file).title.replace(/^(\d+)\. /, "$1 "), address }));
  const page = (body: string): Served => ({ type: PAGE_TYPE, body });

  const makers = new Map<string, () => Served>([
    [DOCS_ADDRESS, () => page(renderIndex(frame, shelves))],
    [DECISIONS_ADDRESS, () => page(renderDecisions(frame, listTitles()))],
    ...guides.map(
      ({ address, file }) => [address, () => page(renderGuide(frame, { address, page: read(file) }))] as const,
    ),
    ...decisions.map(
      ({ address, file }) =>
        [address, () => page(renderGuide(frame, { address, page: read(file), siblings: listTitles() }))] as const,
    ),
    ...plainFiles.map(({ address, file }) => [address, () => readPlainFile(join(root, file))] as const),
  ]);
  const made = new Map<string, Served>();
  return {
    frame,
    find(address) {
      const served = made.get(address) ?? makers.get(address)?.() ?? null;
      if (served) made.set(address, served);
      return served;
    },
    renderMissing: () =>
      renderDocsPage(frame, {
        title: "Not found",
        address: "",
        main: html`<article class="guide"><h1>There is no such document</h1>
<p><a href="${DOCS_ADDRESS}">All documents</a> are listed on one page.</p></article>`,
        foot: null,
      }),
  };
}

function toGroups(shelves: readonly Shelf[]): DocsFrame["groups"] {
  return shelves.map(({ title, documents }) => ({ title, entries: documents }));
}

function readPlainFile(path: string): Served {
  return { type: TYPES[extname(path)] ?? TEXT_TYPE, body: readFileSync(path) };
}

/** Links are written as they work in the checkout, relative to their file; here they lead to where that file is served. */
function toAddress(addresses: ReadonlyMap<string, string>, from: string, href: string): string | null {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = posix.join(posix.dirname(from), path).replace(/\/$/, "");
  const address = addresses.get(file);
  if (address === undefined) return null;
  return anchor === undefined ? address : `${address}#${anchor}`;
}
