import { type Html, html } from "../../../src/server/http/pages/html.ts";
import { toLink, toRecords, toText } from "./arrival.ts";

// An Adaptive Card as Teams draws it: text blocks, a fact set, buttons that open a page. A backslash escapes the next
// character, as in Teams' Markdown; then everything is written to the page as text.

export function renderAdaptiveCard(card: Record<string, unknown>): Html {
  const actions = toRecords(card["actions"]);
  return html`<div class="teams-card">${toRecords(card["body"]).map(renderElement)}${
    actions.length === 0 ? null : html`<div class="teams-actions">${actions.map(renderAction)}</div>`
  }</div>`;
}

function renderElement(element: Record<string, unknown>): Html {
  switch (element["type"]) {
    case "TextBlock": {
      const look = element["weight"] === "Bolder" ? "teams-title" : element["isSubtle"] === true ? "teams-subtle" : "";
      return html`<p class="${look}">${toPlain(element["text"])}</p>`;
    }
    case "FactSet":
      return html`<dl class="teams-facts">${toRecords(element["facts"]).map(
        (fact) => html`<div><dt>${toPlain(fact["title"])}</dt><dd>${toPlain(fact["value"])}</dd></div>`,
      )}</dl>`;
    default:
      return html`<p class="teams-subtle">Unsupported element: ${toText(element["type"])}</p>`;
  }
}

function renderAction(action: Record<string, unknown>): Html {
  const link = action["type"] === "Action.OpenUrl" ? toLink(action["url"]) : null;
  const title = toText(action["title"]);
  return link === null
    ? html`<span class="teams-button">${title}</span>`
    : html`<a class="teams-button" href="${link}" target="_blank" rel="noopener noreferrer">${title}</a>`;
}

function toPlain(value: unknown): string {
  return toText(value).replaceAll(/\\([\\[\]*`<>{}_\-+.)])/g, "$1");
}
