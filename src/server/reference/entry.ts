import { type Html, type HtmlPart, html } from "../http/html.ts";

/** A piece of the reference that can be linked to: words on the left, examples on the right where there is room. */
export function renderEntry(entry: { anchor: string; heading: Html; text: HtmlPart; panels: HtmlPart }): Html {
  return html`<section class="entry" id="${entry.anchor}">
<div class="words">
${entry.heading}
${entry.text}
</div>
<div class="panels">
${entry.panels}
</div>
</section>
`;
}
