import type { WidgetId } from "#contract/ids.ts";
import { html } from "../http/pages/html.ts";
import type { PlainPage } from "../http/pages/plain-page.ts";

/** Stands in for the business's page: the same elements as the dashboard's snippet for this display mode. */
export function renderTestPage({ id, show }: { id: WidgetId; show: string | undefined }): PlainPage {
  return { title: "Test page", hasLoader: true, body: html`${EXPLANATION}${renderSnippet(id, show)}` };
}

const EXPLANATION = html`<h1>Test page</h1>
<p>This page stands in for your website. It contains the snippet, so the widget looks and works here as it will on your own page.</p>
<p class="note">Views and bookings made here count in your analytics.</p>
`;

function renderSnippet(id: WidgetId, show: string | undefined) {
  switch (show) {
    case "popup":
      return html`<script async src="/loader.js" data-widget="${id}"></script>
<p><a class="primary" href="/w/${id}" data-svc-open="${id}">Book now</a></p>`;
    case "float":
      return html`<script async src="/loader.js" data-widget="${id}" data-mode="float"></script>
<p>The button is in the corner of the window.</p>`;
    default:
      return html`<script async src="/loader.js"></script>
<svc-booking widget="${id}"></svc-booking>`;
  }
}
