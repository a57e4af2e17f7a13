import { Marked, type Token, type Tokens } from "marked";
import { type Html, type HtmlPart, html, trustMarkup } from "../http/pages/html.ts";

// Markdown to HTML. marked escapes texts; the overrides here decide about markup, links, images and code, so that nothing
// written in a document becomes markup by itself.

export type Heading = { readonly depth: number; readonly title: string; readonly anchor: string };

/** A heading and the plain text below it, for the search. */
type HeadedText = { readonly title: string; readonly anchor: string; readonly text: string };

export type MarkdownPage = {
  /** The first heading. */
  readonly title: string;
  /** Every heading except the first. */
  readonly headings: readonly Heading[];
  readonly texts: readonly HeadedText[];
  readonly body: Html;
};

/** Where a link in the document leads; null if its target is not served. */
type ToAddress = (href: string) => string | null;

const LONG_NAME = 24;

export function renderMarkdown(text: string, toAddress: ToAddress): MarkdownPage {
  const headings: Heading[] = [];
  const toLabel = (kind: string) => `${kind}: ${headings.at(-1)?.title ?? ""}`;
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ depth, tokens }) {
        const heading = { depth, title: toPlainText(tokens), anchor: toFreeAnchor(headings, toPlainText(tokens)) };
        headings.push(heading);
        const content = trustMarkup(this.parser.parseInline(tokens));
        const level = headings.length === 1 ? 1 : Math.max(depth, 2);
        const inner = level === 1 ? content : html`<a href="#${heading.anchor}">${content}</a>`;
        return html`<h${level} id="${heading.anchor}">${inner}</h${level}>\n`.toString();
      },
      code({ lang = "", text: code }) {
        const title = LANGUAGES[lang]?.title ?? "Text";
        return html`<figure class="panel">
<figcaption>${title}</figcaption>
<div class="scroll" role="group" aria-label="${toLabel(title)}" tabindex="0"><pre><code>${highlightCode(lang, code)}</code></pre></div>
</figure>\n`.toString();
      },
      // A wide table scrolls inside its frame. The frame takes the focus, so that the keyboard can scroll it.
      table({ header, rows }) {
        const toCells = (cells: Tokens.TableCell[], tag: string) =>
          cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
        const hasHead = header.some((cell) => cell.text !== "");
        const head = hasHead
          ? `<thead><tr>${toCells(header, "th").replaceAll("<th></th>", "<td></td>")}</tr></thead>\n`
          : "";
        const body = rows.map((row) => `<tr>${toCells(row, "td")}</tr>\n`).join("");
        return html`<div class="scroll" role="group" aria-label="${toLabel("Table")}" tabindex="0"><table>
${trustMarkup(`${head}<tbody>\n${body}`)}</tbody></table></div>\n`.toString();
      },
      codespan({ text: code }) {
        return html`<code>${code.length < LONG_NAME ? code : toBreakable(code)}</code>`.toString();
      },
      link({ href, tokens }) {
        const address = toAddress(href);
        const content = trustMarkup(this.parser.parseInline(tokens));
        return (address === null ? content : html`<a href="${address}">${content}</a>`).toString();
      },
      image({ href, text: description }) {
        const address = toAddress(href);
        return html`${address === null ? description : html`<img src="${address}" alt="${description}" loading="lazy">`}`.toString();
      },
      html: ({ text: markup }) => renderAllowedMarkup(markup).toString(),
    },
  });
  const tokens = marked.lexer(text);
  const body = trustMarkup(marked.parser(tokens));
  const [first, ...others] = headings;
  return { title: first?.title ?? "", headings: others, texts: listTexts(tokens, headings), body };
}

/** Documents may fold a part and leave comments. Any other markup is shown as written. */
function renderAllowedMarkup(markup: string): Html {
  const [, summary] = /^<details><summary>([^<]*)<\/summary>\s*$/.exec(markup) ?? [];
  if (summary !== undefined) return html`<details class="more"><summary>${summary}</summary>\n`;
  if (/^<\/details>\s*$/.test(markup)) return html`</details>\n`;
  return /^<!--[\s\S]*-->\s*$/.test(markup) ? html`` : html`${markup}`;
}

/** Lets a long name continue on the next line after a separator. */
function toBreakable(code: string): Html {
  return html`${code.split(/(?<=[_./,])/).map((piece, index) => (index === 0 ? piece : html`<wbr>${piece}`))}`;
}

/** The same anchors as on GitHub, so that one link works in both places. */
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

function listTexts(tokens: readonly Token[], headings: readonly Heading[]): HeadedText[] {
  const groups: string[][] = [];
  for (const token of tokens) {
    if (token.type === "heading") groups.push([]);
    else if (token.type !== "html") groups.at(-1)?.push(toPlainText([token]));
  }
  return headings.map(({ title, anchor }, index) => ({
    title,
    anchor,
    text: (groups[index] ?? []).join(" ").replace(/\s+/g, " ").trim(),
  }));
}

function toPlainText(tokens: readonly Token[]): string {
  const toText = (token: Token): string => {
    if (token.type === "table") {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].flatMap((row) => row.map((cell) => toPlainText(cell.tokens))).join(" ");
    }
    if (token.type === "list") return (token as Tokens.List).items.map((item) => toPlainText(item.tokens)).join(" ");
    if ("tokens" in token && token.tokens) return toPlainText(token.tokens);
    return "text" in token ? String(token.text) : "";
  };
  return tokens.map(toText).join("");
}

// Enough colour to find your way in a snippet: comments, strings, literals, and the few words that give it structure.

type Language = { readonly title: string; readonly tokens: RegExp };

const SHELL = /((?<=^|\s)#.*$|'[^']*'|"(?:[^"\\]|\\.)*")/m;
const SCRIPT =
  /(\/\/.*$|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\b(?:as|async|await|catch|const|else|export|for|from|function|if|import|new|of|return|throw|try|type|var)\b)/m;
const SETTINGS = /((?<=^|\s)#.*$|"[^"\n]*"|^[ \t]*-?[ \t]*[\w.-]+(?=[:=]))/m;

const LANGUAGES: Readonly<Record<string, Language>> = {
  sh: { title: "Shell", tokens: SHELL },
  ts: { title: "TypeScript", tokens: SCRIPT },
  jsx: { title: "JSX", tokens: SCRIPT },
  vue: { title: "Vue", tokens: /(<\/?[A-Za-z][\w-]*|"[^"]*")/ },
  js: { title: "JavaScript", tokens: SCRIPT },
  py: {
    title: "Python",
    tokens: /((?<=^|\s)#.*$|"""[\s\S]*?"""|b?"(?:[^"\\\n]|\\.)*"|\b(?:def|for|if|import|in|return)\b)/m,
  },
  php: { title: "PHP", tokens: SCRIPT },
  go: { title: "Go", tokens: SCRIPT },
  json: { title: "JSON", tokens: /("(?:[^"\\]|\\.)*":?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/ },
  html: { title: "HTML", tokens: /(<!--[\s\S]*?-->|<\/?[A-Za-z][\w-]*|"[^"]*")/ },
  http: { title: "HTTP", tokens: /(^[A-Za-z][\w-]*:(?= )|"(?:[^"\\]|\\.)*")/m },
  sql: { title: "SQL", tokens: /(--.*$|'[^']*'|\b(?:and|delete|from|insert|into|select|set|update|where)\b)/im },
  ndjson: { title: "JSON lines", tokens: /("(?:[^"\\]|\\.)*":?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/ },
  nginx: { title: "nginx", tokens: SHELL },
  caddy: { title: "Caddyfile", tokens: SHELL },
  yaml: { title: "YAML", tokens: SETTINGS },
};

/** An unknown language stays plain. */
function highlightCode(language: string, text: string): HtmlPart {
  const known = LANGUAGES[language];
  if (known === undefined) return text;
  // Each pattern has one group, so splitting gives plain text and tokens in turn.
  return text
    .split(known.tokens)
    .map((piece, index) => (index % 2 === 0 ? piece : html`<span class="${toClass(piece)}">${piece}</span>`));
}

function toClass(token: string): string {
  if (/^(#|\/\/|\/\*|--|<!--)/.test(token)) return "note";
  if (/^(-?\d|true$|false$|null$)/.test(token)) return "literal";
  return /^["'`]/.test(token) && !token.endsWith(":") ? "text" : "key";
}
