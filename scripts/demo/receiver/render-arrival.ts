import { type Html, html } from "../../../src/server/http/pages/html.ts";
import { type Arrival, isRecord, type Signature, toText } from "./arrival.ts";
import { renderSlackMessage } from "./render-slack.ts";
import { renderAdaptiveCard } from "./render-teams.ts";

export const PANELS = ["json", "down", "slack", "teams"] as const;
export type Panel = (typeof PANELS)[number];

export function toPanel({ content, reply }: Arrival): Panel {
  if (content.kind === "slack" || content.kind === "teams") return content.kind;
  return reply.status === 500 ? "down" : "json";
}

export function renderArrival(arrival: Arrival): Html {
  const { content } = arrival;
  switch (content.kind) {
    case "slack":
      return html`<li class="slack-message"><span class="slack-avatar" aria-hidden="true">B</span><div>
<p class="slack-sender"><strong>Bookflow</strong> <span class="slack-app">APP</span> ${renderTime(arrival)}</p>
${renderSlackMessage(content.message)}</div></li>`;
    case "teams":
      return html`<li class="teams-message"><span class="teams-avatar" aria-hidden="true">B</span><div>
<p class="teams-sender"><strong>Bookflow</strong> <span>via Workflows</span> ${renderTime(arrival)}</p>
${renderAdaptiveCard(content.card)}</div></li>`;
    case "signed":
      return arrival.reply.status === 500
        ? renderDown(arrival, content.body)
        : renderSigned(arrival, content.signature, content.body);
    case "unreadable":
      return html`<li class="arrival">${renderHead(arrival, arrival.path)}
<p class="signature is-wrong">This is not a Bookflow webhook.</p>${renderHeaders(arrival)}
<pre tabindex="0">${content.text.slice(0, 2_000)}</pre></li>`;
    default:
      return content satisfies never;
  }
}

function renderSigned(arrival: Arrival, signature: Signature, body: unknown): Html {
  const type = isRecord(body) ? toText(body["type"]) : "";
  return html`<li class="arrival">${renderHead(arrival, type)}
${renderAbout(body)}
${
  signature.kind === "verified"
    ? html`<p class="signature is-verified"><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 8.5l3.2 3.2L13 5"/></svg>Signature verified</p>`
    : html`<p class="signature is-wrong">Invalid signature: ${signature.reason}</p>`
}${renderHeaders(arrival)}
<details><summary>Body</summary><pre tabindex="0">${renderJson(body)}</pre></details></li>`;
}

function renderAbout(body: unknown): Html | null {
  const booking = findBooking(body);
  if (!booking) return null;
  const customer = isRecord(booking["customer"]) ? toText(booking["customer"]["name"]) : "";
  const service = isRecord(booking["service"]) ? toText(booking["service"]["name"]) : "";
  return html`<p class="about"><strong>${customer}</strong> booked ${service} <code>${toText(booking["reference"])}</code></p>`;
}

function renderDown(arrival: Arrival, body: unknown): Html {
  const booking = findBooking(body);
  return html`<li><details class="down-line"><summary><span class="status is-bad">${arrival.reply.status}</span>
<code>${toText(booking?.["reference"]) || "test"}</code>
<span>attempt ${arrival.attempt}</span>${renderTime(arrival)}</summary>${renderHeaders(arrival)}</details></li>`;
}

function findBooking(body: unknown): Record<string, unknown> | null {
  const data = isRecord(body) && isRecord(body["data"]) ? body["data"] : null;
  return data && isRecord(data["booking"]) ? data["booking"] : null;
}

function renderHead(arrival: Arrival, title: string): Html {
  const look = arrival.reply.status < 300 ? "is-good" : "is-bad";
  return html`<p class="head"><span class="status ${look}">${arrival.reply.status}</span>
<strong>${title}</strong><span class="path">POST ${arrival.path}</span>${renderTime(arrival)}</p>`;
}

/** The headers that concern a receiver, without those of HTTP itself. */
function renderHeaders({ headers }: Arrival): Html {
  const isOurs = ([name]: readonly [string, string]) => /^(service-|webhook-|user-agent$|content-type$)/i.test(name);
  return html`<dl class="headers">${headers
    .filter(isOurs)
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The page shows it in the viewer's own time. */
function renderTime({ at }: Arrival): Html {
  const instant = at.toISOString();
  return html`<time datetime="${instant}">${instant.slice(11, 19)}</time>`;
}

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
