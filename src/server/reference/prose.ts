import { type Html, type HtmlPart, html } from "../http/html.ts";

/** The part of Markdown that our descriptions use: paragraphs, and `code` between backticks. */
export function renderProse(text: string): Html {
  const paragraphs = text.trim().split(/\n\s*\n/);
  return html`${paragraphs.filter(Boolean).map((paragraph) => html`<p>${renderInline(paragraph)}</p>`)}`;
}

function renderInline(text: string): HtmlPart[] {
  // A pattern with one group splits into text and code by turns.
  return text.split(/`([^`]+)`/).map((piece, index) => (index % 2 === 0 ? piece : html`<code>${piece}</code>`));
}
