import { type Html, type HtmlPart, html } from "../http/html.ts";
import { highlightHeaders, highlightJson, highlightShell, renderPanel } from "./code-panel.ts";
import { toCurl } from "./curl.ts";
import { renderEntry } from "./entry.ts";
import { toExample, toParameterExample } from "../../../test/support/schema-example.ts";
import { describeType, listSchemaFields, renderFields, toParameterFields } from "./fields.ts";
import type { OpenApiDocument } from "./openapi-document.ts";
import { type Answer, type Content, isFailure, type Operation, toFailureAnchor } from "./operations.ts";
import { renderProse } from "./prose.ts";
import { renderTable } from "./table.ts";

/** A request that a caller makes to us. */
export function renderEndpoint(document: OpenApiDocument, endpoint: Operation, serverUrl: string): Html {
  const success = endpoint.answers.find((answer) => !isFailure(answer));
  return renderOperation(document, endpoint, {
    answersHeading: "Answers",
    panels: [
      renderPanel({
        title: "Request",
        label: `Example request: ${endpoint.title}`,
        code: highlightShell(toCurl(endpoint, serverUrl)),
      }),
      success?.content
        ? renderPanel({
            title: `Answer ${success.status}`,
            label: `Example answer: ${endpoint.title}`,
            code: highlightJson(toExample(document, success.content)),
          })
        : null,
    ],
  });
}

/** A request that we make to a customer's endpoint. */
export function renderWebhook(document: OpenApiDocument, webhook: Operation): Html {
  const headers = webhook.parameters
    .filter((parameter) => parameter.in === "header")
    .map((parameter) => [parameter.name, String(toParameterExample(parameter) ?? "…")] as const);
  return renderOperation(document, webhook, {
    answersHeading: "Your answer",
    panels: [
      headers.length === 0
        ? null
        : renderPanel({
            title: "Headers we send",
            label: `Example headers: ${webhook.title}`,
            code: highlightHeaders(headers),
          }),
      webhook.body === null
        ? null
        : renderPanel({
            title: "Body we send",
            label: `Example body: ${webhook.title}`,
            code: highlightJson(toExample(document, webhook.body)),
          }),
    ],
  });
}

function renderOperation(
  document: OpenApiDocument,
  operation: Operation,
  shown: { answersHeading: string; panels: HtmlPart },
): Html {
  return renderEntry({
    anchor: operation.anchor,
    heading: html`<h3><a href="#${operation.anchor}">${operation.title}</a></h3>`,
    text: html`<p class="address"><span class="method">${operation.method}</span> <code>${operation.address}</code></p>
${renderProse(operation.description)}
${renderParameters(document, operation)}
${renderBody(document, operation)}
${renderAnswers(document, operation, shown.answersHeading)}`,
    panels: shown.panels,
  });
}

const PARAMETER_HEADINGS: Readonly<Record<string, string>> = {
  path: "Path parameters",
  query: "Query parameters",
  header: "Headers",
  cookie: "Cookies",
};

function renderParameters(document: OpenApiDocument, { parameters, title }: Operation): HtmlPart {
  return Object.entries(PARAMETER_HEADINGS).map(([place, heading]) => {
    const fields = toParameterFields(parameters.filter((parameter) => parameter.in === place));
    if (fields.length === 0) return null;
    const name = place === "header" ? "Header" : "Parameter";
    return html`<h4>${heading}</h4>\n${renderFields(document, { caption: `${heading} of ${title}`, heading: name, fields })}`;
  });
}

function renderBody(document: OpenApiDocument, { body, title }: Operation): HtmlPart {
  if (body === null) return null;
  return html`<h4>Body</h4>\n${renderContent(document, { content: body, caption: `Body of ${title}`, introduction: "" })}`;
}

function renderAnswers(document: OpenApiDocument, operation: Operation, heading: string): HtmlPart {
  if (operation.answers.length === 0) return null;
  const haveCodes = operation.answers.some(({ code }) => code !== null);
  return html`<h4>${heading}</h4>
${renderTable({
  kind: "answers",
  caption: `${heading} to ${operation.title}`,
  headings: ["Status", ...(haveCodes ? ["Code"] : []), "Meaning"],
  rows: operation.answers.map((answer) => [
    html`<code>${answer.status}</code>`,
    ...(haveCodes ? [renderCode(answer)] : []),
    [renderProse(answer.meaning), renderAnswerBody(document, operation, answer)],
  ]),
})}`;
}

function renderCode(answer: Answer): HtmlPart {
  if (answer.code === null) return html`<span class="unseen">none</span>`;
  return html`<a href="#${toFailureAnchor(answer)}"><code>${answer.code}</code></a>`;
}

/** The one body of all failures is shown under Errors. */
function renderAnswerBody(document: OpenApiDocument, operation: Operation, answer: Answer): HtmlPart {
  if (answer.content === null || isFailure(answer)) return null;
  const caption = `Body of answer ${answer.status} to ${operation.title}`;
  return renderContent(document, { content: answer.content, caption, introduction: "Body: " });
}

/** A named schema is a link to its table; the properties of an unnamed one are listed here. */
function renderContent(
  document: OpenApiDocument,
  { content, caption, introduction }: { content: Content; caption: string; introduction: string },
): Html {
  const fields = listSchemaFields(document, content.schema);
  return html`<p>${introduction}${describeType(document, content.schema).label}</p>
${fields.length === 0 ? null : renderFields(document, { caption, heading: "Field", fields })}`;
}
