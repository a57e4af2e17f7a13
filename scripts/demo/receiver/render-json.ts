import { type Html, html } from "../../../src/server/http/pages/html.ts";

/** A JSON value, indented, with its names and values marked up for colours. */
export function renderJson(value: unknown, indent = ""): Html {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return html`[]`;
    return html`[
${separate(value.map((one) => html`${deeper}${renderJson(one, deeper)}`))}
${indent}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value);
    if (members.length === 0) return html`{}`;
    return html`{
${separate(
  members.map(
    ([name, member]) =>
      html`${deeper}<span class="json-name">${JSON.stringify(name)}</span>: ${renderJson(member, deeper)}`,
  ),
)}
${indent}}`;
  }
  const look = typeof value === "string" ? "json-text" : "json-other";
  return html`<span class="${look}">${JSON.stringify(value) ?? "null"}</span>`;
}

function separate(parts: readonly Html[]): Html[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [html`,\n`, part]));
}
