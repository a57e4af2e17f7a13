import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { parseWidgetId, type WidgetId } from "#contract/ids.ts";
import type { Deps } from "../deps.ts";
import { toAcceptedLanguage } from "../http/accept.ts";
import { ApiError } from "../http/errors/api-error.ts";
import { notBuilt, serveBrowserFiles } from "../http/pages/browser-files.ts";
import { html } from "../http/pages/html.ts";
import { type PlainPage, sendPlainPage } from "../http/pages/plain-page.ts";
import { directPageUrl, findBookableWidget, requireBookableWidget } from "../widgets/widgets.ts";
import { renderButtonPage, toButtonLook } from "./floating-button.ts";
import { FRAME_ADDRESS, FRAME_FOLDER, type FrameFiles } from "./frame-files.ts";
import { type PageKind, renderFramePage, renderUnknownPage } from "./render-page.ts";

type EmbedDeps = Pick<Deps, "config" | "db">;

/**
 * GET /embed/{widget} is the booking frame, GET /w/{widget} the same as a page of its own, GET /button/{widget} the look of the floating
 * button, and GET /test-page/{widget} a page with the widget's snippet; also serves their files, if they are built.
 */
export async function embedPageRoutes(app: FastifyInstance, deps: EmbedDeps, files: FrameFiles | null): Promise<void> {
  if (files) await serveBrowserFiles(app, { folder: FRAME_FOLDER, address: FRAME_ADDRESS });
  for (const [kind, url] of [
    ["embed", "/embed/:widget"],
    ["direct", "/w/:widget"],
  ] as const) {
    app.get<{ Params: { widget: string } }>(url, { schema: { hide: true } }, async (request, reply) => {
      if (!files) throw notBuilt();
      return await sendPage(deps, { kind, files, request, reply });
    });
  }
  app.get<{ Params: { widget: string }; Querystring: { locale?: string } }>(
    "/button/:widget",
    { schema: { hide: true } },
    async ({ params, query, headers }, reply) => {
      const widget = await requireBookableWidget(deps.db, params.widget);
      const accepted = toAcceptedLanguage(headers["accept-language"]).language;
      const pageLocale = typeof query.locale === "string" ? query.locale : "";
      const { body, scriptHash } = renderButtonPage(toButtonLook(widget, { pageLocale, accepted }));
      return (
        reply
          .type("text/html; charset=utf-8")
          // Every page of a site asks for it, and a change in the dashboard should be seen soon.
          .header("cache-control", "private, max-age=60")
          .header("vary", "Accept-Language")
          .header("x-robots-tag", "noindex")
          .header(
            "content-security-policy",
            `default-src 'none'; script-src ${scriptHash}; frame-ancestors ${toAncestors(widget.allowedDomains)}; base-uri 'none'`,
          )
          .send(body)
      );
    },
  );
  app.get<{ Params: { widget: string }; Querystring: { show?: string } }>(
    "/test-page/:widget",
    { schema: { hide: true } },
    async (request, reply) => {
      const id = parseWidgetId(request.params.widget);
      if (!id || !(await findBookableWidget(deps.db, id))) throw new ApiError("not_found", "Widget not found.");
      return sendPlainPage(reply, renderTestPage({ id, show: request.query.show }));
    },
  );
}

async function sendPage(
  deps: EmbedDeps,
  page: {
    kind: PageKind;
    files: FrameFiles;
    request: FastifyRequest<{ Params: { widget: string } }>;
    reply: FastifyReply;
  },
): Promise<FastifyReply> {
  const { kind, files, request, reply } = page;
  const { language } = toAcceptedLanguage(request.headers["accept-language"]);
  const id = parseWidgetId(request.params.widget);
  const widget = id && (await findBookableWidget(deps.db, id));
  const isFramed = kind === "embed";
  reply
    .type("text/html; charset=utf-8")
    // Revalidated every time, but still usable for back and forward.
    .header("cache-control", "no-cache")
    .header("vary", "Accept-Language")
    .header("content-security-policy", toPolicy(isFramed ? toAncestors(widget?.allowedDomains ?? []) : "'none'"));
  if (isFramed || !widget) reply.header("x-robots-tag", "noindex");
  if (!widget) return reply.code(404).send(renderUnknownPage({ kind, language, files }));
  const spoken = widget.options.language ?? language;
  const directUrl = directPageUrl(deps.config.baseUrl, widget.id);
  const bookingUrl = widget.bookingUrl ?? directUrl;
  const isThisPage = kind === "direct" && bookingUrl === directUrl;
  return reply.send(
    renderFramePage({ kind, widget, bookingUrl: isThisPage ? null : bookingUrl, language: spoken, files }),
  );
}

/** Our own pages are always allowed, because the dashboard shows a preview. */
function toAncestors(allowedDomains: readonly string[]): string {
  return allowedDomains.length === 0 ? "*" : ["'self'", ...allowedDomains].join(" ");
}

function toPolicy(frameAncestors: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    `frame-ancestors ${frameAncestors}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Stands in for the business's page: the same elements as the dashboard's snippet for this display mode. */
function renderTestPage({ id, show }: { id: WidgetId; show: string | undefined }): PlainPage {
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
