import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { type Html, type HtmlPart, html } from "../http/html.ts";
import { renderPanel } from "../reference/code-panel.ts";
import { highlightCode, toLanguageTitle } from "./highlight-code.ts";

// Markdown to HTML. marked reads it; the markup is made here by templates that escape whatever is put into them, so nothing
// a document says becomes markup of its own.

export type Heading = { readonly depth: number; readonly title: string; readonly anchor: string };

export type MarkdownPage = {
  /** The first heading. */
  readonly title: string;
  /** Every heading but the first. */
  readonly headings: readonly Heading[];
  readonly body: Html;
};

/** Where a link leads that stands in the document; null where there is nothing to lead to. */
type ToAddress = (href: string) => string | null;

const LONG_NAME = 24;

type Reading = { readonly toAddress: ToAddress; readonly headings: Heading[] };

export function renderMarkdown(text: string, toAddress: ToAddress): MarkdownPage {
  const reading: Reading = { toAddress, headings: [] };
  const body = html`${renderBlocks(reading, lexer(text, { gfm: true }))}`;
  const [first, ...headings] = reading.headings;
  return { title: first?.title ?? "", headings, body };
}

function renderBlocks(reading: Reading, tokens: readonly Token[]): HtmlPart {
  // The union's last member stands for the tokens of extensions, of which there are none.
  return tokens.map((token) => renderBlock(reading, token as MarkedToken));
}

function renderBlock(reading: Reading, token: MarkedToken): HtmlPart {
  switch (token.type) {
    case "heading":
      return renderHeading(reading, token);
    case "paragraph":
      return html`<p>${renderInlines(reading, token.tokens)}</p>\n`;
    case "list":
      return renderList(reading, token);
    case "table":
      return renderTable(reading, token);
    case "code":
      return renderCode(reading, token);
    case "blockquote":
      return html`<blockquote>${renderBlocks(reading, token.tokens)}</blockquote>\n`;
    case "hr":
      return html`<hr>\n`;
    case "html":
      return renderFold(token.text);
    case "space":
    case "def":
      return null;
    default:
      return renderInline(reading, token);
  }
}

function renderInlines(reading: Reading, tokens: readonly Token[]): HtmlPart {
  return tokens.map((token) => renderInline(reading, token as MarkedToken));
}

function renderInline(reading: Reading, token: MarkedToken): HtmlPart {
  switch (token.type) {
    case "text":
      return token.tokens ? renderInlines(reading, token.tokens) : token.text;
    case "escape":
      return token.text;
    case "strong":
      return html`<strong>${renderInlines(reading, token.tokens)}</strong>`;
    case "em":
      return html`<em>${renderInlines(reading, token.tokens)}</em>`;
    case "codespan":
      return html`<code>${withSeams(token.text)}</code>`;
    case "link":
      return renderLink(reading, token);
    case "image":
      return renderImage(reading, token);
    case "br":
      return html`<br>`;
    default:
      return token.raw;
  }
}

/** Where a long name may go on in the next line. */
function withSeams(code: string): HtmlPart {
  if (code.length < LONG_NAME) return code;
  return code.split(/(?<=[_./,])/).map((piece, index) => (index === 0 ? piece : [html`<wbr>`, piece]));
}

function renderHeading(reading: Reading, { depth, tokens }: Tokens.Heading): Html {
  const title = toPlainText(tokens);
  const anchor = toFreeAnchor(reading.headings, title);
  const isFirst = reading.headings.length === 0;
  reading.headings.push({ depth, title, anchor });
  const text = renderInlines(reading, tokens);
  if (isFirst) return html`<h1 id="${anchor}">${text}</h1>\n`;
  const link = html`<a href="#${anchor}">${text}</a>`;
  if (depth <= 2) return html`<h2 id="${anchor}">${link}</h2>\n`;
  return depth === 3 ? html`<h3 id="${anchor}">${link}</h3>\n` : html`<h4 id="${anchor}">${text}</h4>\n`;
}

/** As GitHub makes them, so that one link works in both places. */
function toFreeAnchor(headings: readonly Heading[], title: string): string {
  const wanted = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
  const isTaken = (anchor: string) => headings.some((heading) => heading.anchor === anchor);
  let anchor = wanted;
  for (let count = 1; isTaken(anchor); count++) anchor = `${wanted}-${count}`;
  return anchor;
}

function toPlainText(tokens: readonly Token[]): string {
  const toText = (token: Token): string => {
    if ("tokens" in token && token.tokens) return toPlainText(token.tokens);
    return "text" in token ? String(token.text) : "";
  };
  return tokens.map(toText).join("");
}

function renderList(reading: Reading, { ordered, items }: Tokens.List): Html {
  const lines = items.map((item) => html`<li>${renderBlocks(reading, item.tokens)}</li>\n`);
  return ordered ? html`<ol>${lines}</ol>\n` : html`<ul>${lines}</ul>\n`;
}

/** A wide table scrolls inside its frame, never the page; the frame can be focused, so that keys can scroll it. */
function renderTable(reading: Reading, { header, rows }: Tokens.Table): Html {
  const isHeaded = header.some(({ text }) => text !== "");
  const headings = header.map((cell) =>
    cell.text === "" ? html`<td></td>` : html`<th scope="col">${renderInlines(reading, cell.tokens)}</th>`,
  );
  return html`<div class="scroll" role="group" aria-label="${toLabel(reading, "Table")}" tabindex="0"><table class="plain">
${isHeaded ? html`<thead><tr>${headings}</tr></thead>\n` : null}<tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${renderInlines(reading, cell.tokens)}</td>`)}</tr>\n`)}</tbody>
</table></div>
`;
}

function renderCode(reading: Reading, { lang = "", text }: Tokens.Code): Html {
  const title = toLanguageTitle(lang);
  return renderPanel({ title, label: toLabel(reading, title), code: highlightCode(lang, text) });
}

function toLabel({ headings }: Reading, what: string): string {
  return `${what}: ${headings.at(-1)?.title ?? ""}`;
}

function renderLink(reading: Reading, { href, tokens }: Tokens.Link): HtmlPart {
  const text = renderInlines(reading, tokens);
  const address = reading.toAddress(href);
  return address === null ? text : html`<a href="${address}">${text}</a>`;
}

function renderImage(reading: Reading, { href, text }: Tokens.Image): HtmlPart {
  const address = reading.toAddress(href);
  return address === null ? text : html`<img src="${address}" alt="${text}" loading="lazy">`;
}

/** The only markup that documents use besides: something folded, and comments. Any other is shown as it is written. */
function renderFold(text: string): HtmlPart {
  const [, summary] = /^<details><summary>([^<]*)<\/summary>\s*$/.exec(text) ?? [];
  if (summary !== undefined) return html`<details class="more"><summary>${summary}</summary>\n`;
  if (/^<\/details>\s*$/.test(text)) return html`</details>\n`;
  return /^<!--[\s\S]*-->\s*$/.test(text) ? null : html`<p>${text}</p>\n`;
}
