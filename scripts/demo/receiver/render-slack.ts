import { type Html, html } from "../../../src/server/http/pages/html.ts";
import { isRecord, toLink, toRecords, toText } from "./arrival.ts";

// Block Kit as Slack draws it: header, section with fields or a text, context. Texts are unescaped as Slack does
// (&amp; &lt; &gt;) and then written to the page as text.

export function renderSlackMessage(message: Record<string, unknown>): Html {
  return html`<div class="slack-blocks">${toRecords(message["blocks"]).map(renderBlock)}</div>`;
}

function renderBlock(block: Record<string, unknown>): Html {
  switch (block["type"]) {
    case "header":
      return html`<p class="slack-header">${renderText(block["text"])}</p>`;
    case "section":
      if (isRecord(block["text"])) return html`<p>${renderText(block["text"])}</p>`;
      return html`<div class="slack-fields">${toRecords(block["fields"]).map(
        (field) => html`<div>${renderText(field)}</div>`,
      )}</div>`;
    case "context":
      return html`<p class="slack-context">${toRecords(block["elements"]).map(renderText)}</p>`;
    default:
      return html`<p class="slack-context">Unsupported block: ${toText(block["type"])}</p>`;
  }
}

/** The only mrkdwn drawn is what our cards use, a whole line in bold or one link; other marks are shown as they are. */
function renderText(value: unknown): Html {
  if (!isRecord(value)) return html``;
  const text = toText(value["text"]);
  if (value["type"] !== "mrkdwn") return html`${toPlain(text)}`;
  const [, address, label] = /^<(https?:[^<>|]+)\|([^<>|]+)>$/.exec(text) ?? [];
  const link = address === undefined ? null : toLink(toPlain(address));
  if (link !== null && label !== undefined)
    return html`<a href="${link}" target="_blank" rel="noopener noreferrer">${toPlain(label)}</a>`;
  const bold = /^\*([^*]+)\*$/.exec(text)?.[1];
  return bold === undefined ? html`${toPlain(text)}` : html`<strong>${toPlain(bold)}</strong>`;
}

const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

function toPlain(text: string): string {
  return text.replaceAll(/&(amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity);
}
