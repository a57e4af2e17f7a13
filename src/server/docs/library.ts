import { readFileSync } from "node:fs";
import { extname, join, posix } from "node:path";
import { PASSAGES_ADDRESS, type Passage } from "#contract/docs-search.ts";
import { html } from "../http/pages/html.ts";
import { SlicedWork } from "../lib/concurrency/sliced-work.ts";
import { type DocsFrame, renderDocsPage } from "./docs-page.ts";
import { DECISIONS_ADDRESS, DOCS_ADDRESS, listDecisions, listPlainFiles, listSections } from "./documents.ts";
import { type MarkdownPage, renderMarkdown } from "./markdown.ts";
import { renderDecisions, renderGuide, renderIndex } from "./render-guide.ts";

/** The content sent for an address. */
export type Served = { readonly type: string; readonly body: string | Buffer };

type Library = {
  readonly frame: DocsFrame;
  /** Null if nothing is served there. */
  find(address: string): Promise<Served | null>;
  renderMissing(): string;
};

const PAGE_TYPE = "text/html; charset=utf-8";
const TEXT_TYPE = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = { ".png": "image/png", ".json": JSON_TYPE };

/** The addresses are fixed at start, so no request can reach another file. Pages are made when first requested. */
export function openLibrary({
  root,
  files,
}: {
  root: string;
  files: Pick<DocsFrame, "script" | "stylesheets">;
}): Library {
  const shelf = readShelf(root);
  const frame: DocsFrame = { ...files, sections: shelf.sections };
  const makers = listMakers(frame, shelf);
  const made = new Map<string, Served | Promise<Served>>();
  return {
    frame,
    async find(address) {
      const served = made.get(address) ?? makers.get(address)?.();
      if (!served) return null;
      made.set(address, served);
      try {
        return await served;
      } catch (error) {
        made.delete(address);
        throw error;
      }
    },
    renderMissing: () =>
      renderDocsPage(frame, {
        title: "Page not found",
        address: "",
        main: html`<div class="read"><article class="guide"><h1>Page not found</h1>
<p>See the <a href="${DOCS_ADDRESS}">list of all guides</a>, or search above.</p></article></div>`,
      }),
  };
}

type Shelf = ReturnType<typeof readShelf>;

/** Which documents there are, and how to read one. */
function readShelf(root: string) {
  const sections = listSections(root);
  const guides = sections.flatMap(({ isForCustomers, documents }) =>
    documents.flatMap(({ title: guide, address, file }) =>
      file === null ? [] : { isForCustomers, guide, address, file },
    ),
  );
  const decisions = listDecisions(root);
  const plainFiles = listPlainFiles(root);
  const addresses = new Map([...guides, ...decisions, ...plainFiles].map(({ file, address }) => [file, address]));
  addresses.set("docs/decisions", DECISIONS_ADDRESS);
  return {
    sections,
    guides,
    decisions,
    plainFiles,
    read: (file: string): MarkdownPage =>
      renderMarkdown(readFileSync(join(root, file), "utf8"), (href) => toAddress(addresses, file, href)),
    readPlain: (file: string): Served => ({
      type: TYPES[extname(file)] ?? TEXT_TYPE,
      body: readFileSync(join(root, file)),
    }),
  };
}

function listMakers(frame: DocsFrame, shelf: Shelf): ReadonlyMap<string, () => Served | Promise<Served>> {
  const { guides, decisions, plainFiles, read, readPlain } = shelf;
  const page = (body: string): Served => ({ type: PAGE_TYPE, body });
  const listTitles = () =>
    decisions.map(({ file, address }) => ({ title: read(file).title.replace(/^(\d+)\. /, "$1 "), address }));
  return new Map<string, () => Served | Promise<Served>>([
    [DOCS_ADDRESS, () => page(renderIndex(frame))],
    [PASSAGES_ADDRESS, async () => ({ type: JSON_TYPE, body: JSON.stringify(await listAllPassages(shelf)) })],
    [DECISIONS_ADDRESS, () => page(renderDecisions(frame, listTitles()))],
    ...guides.map(
      ({ address, file }) => [address, () => page(renderGuide(frame, { address, page: read(file) }))] as const,
    ),
    ...decisions.map(
      ({ address, file }) =>
        [address, () => page(renderGuide(frame, { address, page: read(file), siblings: listTitles() }))] as const,
    ),
    ...plainFiles.map(({ address, file }) => [address, () => readPlain(file)] as const),
  ]);
}

/** Reading all documents takes up to a fifth of a second, so others have their turns in between. */
async function listAllPassages({ guides, decisions, read }: Shelf): Promise<Passage[]> {
  const sliced = new SlicedWork();
  const passages: Passage[] = [];
  const documents = [
    ...guides,
    ...decisions.map((decision) => ({ ...decision, guide: "Decisions", isForCustomers: false })),
  ];
  for (const { file, ...place } of documents)
    passages.push(...(await sliced.spend(() => listPassages(read(file), place))));
  return passages;
}

function listPassages(
  { texts }: MarkdownPage,
  { address, guide, isForCustomers }: { address: string; guide: string; isForCustomers: boolean },
): Passage[] {
  return texts.map(({ title, anchor, text }) => ({
    address: `${address}#${anchor}`,
    guide,
    heading: title,
    text,
    isForCustomers,
  }));
}

/** Documents link to each other by file, so that links work in a checkout. Here they lead to where the file is served. */
function toAddress(addresses: ReadonlyMap<string, string>, from: string, href: string): string | null {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const file = posix.join(posix.dirname(from), path).replace(/\/$/, "");
  const address = addresses.get(file);
  if (address === undefined) return null;
  return anchor === undefined ? address : `${address}#${anchor}`;
}
