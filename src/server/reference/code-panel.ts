import { type Html, type HtmlPart, html } from "../http/html.ts";

/** A dark panel of code. The label says to a screen reader what `title` leaves to the eye. */
export function renderPanel({ title, label, code }: { title: string; label: string; code: HtmlPart }): Html {
  return html`<figure class="panel">
<figcaption>${title}</figcaption>
<div class="scroll" role="group" aria-label="${label}" tabindex="0"><pre><code>${code}</code></pre></div>
</figure>`;
}

export function highlightJson(value: unknown): HtmlPart {
  return highlightJsonText(JSON.stringify(value, null, 2) ?? "");
}

export function highlightJsonText(text: string): HtmlPart {
  return highlight(text, /("(?:[^"\\]|\\.)*":?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*)/, (token) => {
    if (!token.startsWith('"')) return "literal";
    return token.endsWith(":") ? "key" : "text";
  });
}

export function highlightShell(command: string): HtmlPart {
  return highlight(command, /('[^']*')/, () => "text");
}

export function highlightHeaders(headers: readonly (readonly [name: string, value: string])[]): HtmlPart {
  return headers.map(([name, value], index) => [
    index === 0 ? "" : "\n",
    html`<span class="key">${name}:</span> <span class="text">${value}</span>`,
  ]);
}

/** The pattern has one group, so that splitting gives text and tokens by turns. */
export function highlight(text: string, pattern: RegExp, toClass: (token: string) => string): HtmlPart {
  return text
    .split(pattern)
    .map((piece, index) => (index % 2 === 0 ? piece : html`<span class="${toClass(piece)}">${piece}</span>`));
}
