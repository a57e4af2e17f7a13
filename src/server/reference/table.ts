import { type Html, type HtmlPart, html } from "../http/html.ts";

type Table = {
  /** Says how the stylesheet divides the columns. */
  readonly kind: "fields" | "answers";
  /** For screen readers; the heading above the table says it to the eye. Unique on the page. */
  readonly caption: string;
  readonly headings: readonly string[];
  /** The first cell of a row is its heading. */
  readonly rows: readonly (readonly HtmlPart[])[];
};

/** A wide table scrolls inside its frame, never the page; the frame can be focused, so that keys can scroll it. */
export function renderTable({ kind, caption, headings, rows }: Table): Html {
  return html`<div class="scroll" role="group" aria-label="${caption}" tabindex="0"><table class="${kind}">
<caption class="unseen">${caption}</caption>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>
${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first ?? null}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}
