import { type Html, type HtmlPart, html } from "../http/html.ts";
import { highlightHeaders, highlightJson, renderPanel } from "./code-panel.ts";
import { type ContentsEntry, type DocsFrame, renderDocsPage } from "../docs/docs-page.ts";
import { renderEntry } from "./entry.ts";
import { toExample, toSchemaExample } from "../../../test/support/schema-example.ts";
import { describeType, listSchemaFields, renderFields } from "./fields.ts";
import type { OpenApiDocument, Schema, SecurityScheme } from "./openapi-document.ts";
import { isFailure, listEndpoints, listFailures, listWebhooks, type Operation, toAnchor } from "./operations.ts";
import { renderProse } from "./prose.ts";
import { renderEndpoint, renderWebhook } from "./render-operation.ts";
import { renderTable } from "./table.ts";

export const REFERENCE_ADDRESS = "/docs/api";

/** The reference page, made from the OpenAPI document alone; `documentAddress` is where that is served. */
export function renderReference(document: OpenApiDocument, frame: DocsFrame, documentAddress: string): string {
  const endpoints = listEndpoints(document);
  const webhooks = listWebhooks(document);
  const schemas = Object.entries(document.components?.schemas ?? {});
  const schemes = Object.values(document.components?.securitySchemes ?? {});
  const serverUrl = document.servers?.[0]?.url ?? "";
  const chapters: Chapter[] = [
    { title: "Introduction", anchor: "introduction", entries: [] },
    { title: "Authentication", anchor: "authentication", entries: [] },
    { title: "Errors", anchor: "errors", entries: [] },
    { title: "Endpoints", anchor: "endpoints", entries: endpoints },
    { title: "Webhooks", anchor: "webhooks", entries: webhooks },
    {
      title: "Schemas",
      anchor: "schemas",
      entries: schemas.map(([name]) => ({ title: name, anchor: toAnchor("schema", name) })),
    },
  ];
  const main = html`${renderIntroduction(document, { documentAddress, endpoints, serverUrl })}
${renderAuthentication(schemes)}
${renderErrors(document, endpoints)}
${renderChapterHeading("Endpoints", null)}
${endpoints.map((endpoint) => renderEndpoint(document, endpoint, serverUrl))}
${webhooks.length === 0 ? null : renderWebhooks(document, webhooks)}
${renderChapterHeading("Schemas", null)}
${schemas.map(([name, schema]) => renderSchema(document, name, schema))}`;
  return renderDocsPage(frame, {
    title: document.info.title,
    address: REFERENCE_ADDRESS,
    contents: chapters
      .filter(({ anchor, entries }) => anchor !== "webhooks" || entries.length > 0)
      .map(toContentsEntry),
    main,
    foot: html`<p>Made from <a href="${documentAddress}">the OpenAPI document</a> of this service.</p>`,
  });
}

type Chapter = { title: string; anchor: string; entries: readonly { title: string; anchor: string }[] };

function toContentsEntry({ title, anchor, entries }: Chapter): ContentsEntry {
  return {
    title,
    address: `#${anchor}`,
    entries: entries.map((entry) => ({ title: entry.title, address: `#${entry.anchor}` })),
  };
}

function renderIntroduction(
  { info }: OpenApiDocument,
  {
    documentAddress,
    endpoints,
    serverUrl,
  }: { documentAddress: string; endpoints: readonly Operation[]; serverUrl: string },
): Html {
  const license = info.license === undefined ? null : html`<li>License ${info.license.name}</li>`;
  return renderEntry({
    anchor: "introduction",
    heading: html`<h1>${info.title}</h1>`,
    text: html`<ul class="about"><li>Version ${info.version}</li>${license}<li><a href="${documentAddress}">OpenAPI document</a></li></ul>
<div class="lead">${renderProse(info.description ?? "")}</div>`,
    panels: [
      renderPanel({ title: "Base address", label: "Base address", code: serverUrl }),
      renderPanel({ title: "Endpoints", label: "Endpoints", code: endpoints.map(renderEndpointLink) }),
    ],
  });
}

function renderEndpointLink({ anchor, method, address }: Operation, index: number): HtmlPart {
  return [index === 0 ? "" : "\n", html`<span class="literal">${method}</span> <a href="#${anchor}">${address}</a>`];
}

function renderAuthentication(schemes: readonly SecurityScheme[]): Html {
  return renderEntry({
    anchor: "authentication",
    heading: html`<h2><a href="#authentication">Authentication</a></h2>`,
    text: html`${schemes.map(({ description }) => renderProse(description ?? ""))}
<p>Send it with every request, in the <code>Authorization</code> header. A request without a valid key fails as listed
under <a href="#errors">Errors</a>.</p>`,
    panels: renderPanel({
      title: "Header",
      label: "Authentication header",
      code: highlightHeaders([["Authorization", "Bearer <API_KEY>"]]),
    }),
  });
}

function renderErrors(document: OpenApiDocument, endpoints: readonly Operation[]): Html {
  const content = endpoints
    .flatMap(({ answers }) => answers)
    .find((answer) => isFailure(answer) && answer.content)?.content;
  return renderEntry({
    anchor: "errors",
    heading: html`<h2><a href="#errors">Errors</a></h2>`,
    text: html`${
      content
        ? html`<p>Every failure is answered in one shape: ${describeType(document, content.schema).label}.</p>`
        : null
    }
${renderTable({
  kind: "answers",
  caption: "Errors of all endpoints",
  headings: ["Status", "Code", "Meaning"],
  rows: listFailures(endpoints).map(({ anchor, status, code, meanings }) => [
    html`<code id="${anchor}">${status}</code>`,
    code === null ? html`<span class="unseen">none</span>` : html`<code>${code}</code>`,
    meanings.map(renderProse),
  ]),
})}`,
    panels: content
      ? renderPanel({ title: "Error", label: "Example error", code: highlightJson(toExample(document, content)) })
      : null,
  });
}

function renderWebhooks(document: OpenApiDocument, webhooks: readonly Operation[]): Html {
  return html`${renderChapterHeading("Webhooks", "Requests that this service makes to your own endpoints.")}
${webhooks.map((webhook) => renderWebhook(document, webhook))}`;
}

function renderChapterHeading(title: string, introduction: string | null): Html {
  const anchor = title.toLowerCase();
  return html`<div class="chapter" id="${anchor}">
<h2><a href="#${anchor}">${title}</a></h2>
${introduction === null ? null : html`<p>${introduction}</p>`}
</div>`;
}

function renderSchema(document: OpenApiDocument, name: string, schema: Schema): Html {
  const anchor = toAnchor("schema", name);
  const fields = listSchemaFields(document, schema);
  return renderEntry({
    anchor,
    heading: html`<h3><a href="#${anchor}">${name}</a></h3>`,
    text: html`${renderProse(schema.description ?? "")}
${
  fields.length === 0
    ? html`<p>${describeType(document, schema).label}</p>`
    : renderFields(document, { caption: `Fields of ${name}`, heading: "Field", fields })
}`,
    panels: renderPanel({
      title: name,
      label: `Example ${name}`,
      code: highlightJson(toSchemaExample(document, schema)),
    }),
  });
}
