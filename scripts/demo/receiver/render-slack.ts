import { type Html, html } from "../../../src/server/http/html.ts";
import { isRecord, toLink, toRecords, toText } from "./arrival.ts";

// Block Kit as Slack draws it: header, section with fields, actions with buttons, context. Texts are unescaped as Slack does
// (&amp; &lt; &gt;) and then written to the page as text.

export function renderSlackMessage(message: Record<string, unknown>): Html {
  return html`<div class="slack-blocks">${toRecords(message["blocks"]).map(renderBlock)}</div>`;
}

function renderBlock(block: Record<string, unknown>): Html {
  switch (block["type"]) {
    case "header":
      return html`<p class="slack-header">${renderText(block["text"])}</p>`;
    case "section":
      return html`<div class="slack-fields">${toRecords(block["fields"]).map(
        (field) => html`<div>${renderText(field)}</div>`,
      )}</div>`;
    case "actions":
      return html`<div class="slack-actions">${toRecords(block["elements"]).map(renderButton)}</div>`;
    case "context":
      return html`<p class="slack-context">${toRecords(block["elements"]).map(renderText)}</p>`;
    default:
      return html`<p class="slack-context">Unsupported block: ${toText(block["type"])}</p>`;
  }
}

function renderButton(element: Record<string, unknown>): Html {
  const link = toLink(element["url"]);
  const label = renderText(element["text"]);
  return link === null
    ? html`<span class="slack-button">${label}</span>`
    : html`<a class="slack-button" href="${link}" target="_blank" rel="noopener noreferrer">${label}</a>`;
}

/** The only mrkdwn drawn is a whole line in bold, which is all our cards use; other marks are shown as they are. */
function renderText(value: unknown): Html {
  if (!isRecord(value)) return html``;
  const text = toPlain(toText(value["text"]));
  const bold = value["type"] === "mrkdwn" ? /^\*([^*]+)\*$/.exec(text)?.[1] : undefined;
  return bold === undefined ? html`${text}` : html`<strong>${bold}</strong>`;
}

const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

function toPlain(text: string): string {
  return text.replaceAll(/&(amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity);
}
