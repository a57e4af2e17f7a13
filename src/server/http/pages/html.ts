// HTML that is escaped by construction: every interpolated value is treated as text, unless it comes from the same
// template function.

/** A class, and not exported as a value, so that nothing parsed from JSON can pass for finished markup. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

export type { Html };

export type HtmlPart = Html | string | number | null | readonly HtmlPart[];

/** Templates must write attributes in double quotes; then no value can break out of its place. */
export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(texts.reduce((markup, text, index) => markup + toMarkup(parts[index - 1] ?? null) + text));
}

/** For markup that another renderer has escaped. Never use it for anything from a request. */
export function trustMarkup(markup: string): Html {
  return new Html(markup);
}

export function renderHead(title: string, stylesheets: readonly string[]): Html {
  return html`<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${stylesheets.map((address) => html`<link rel="stylesheet" href="${address}">`)}`;
}

function toMarkup(part: HtmlPart): string {
  if (part === null) return "";
  if (part instanceof Html) return part.toString();
  // Array.isArray does not narrow a readonly array.
  if (Array.isArray(part)) return (part as readonly HtmlPart[]).map(toMarkup).join("");
  return escapeText(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}
