import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenApiDocument, PathItem, Schema } from "./openapi-document.ts";
import { renderReference } from "./render-reference.ts";

const frame = {
  stylesheet: "/docs/docs.css",
  groups: [{ title: "Developers", entries: [{ title: "API reference", address: "/docs/api" }] }],
};
const documentAddress = "/api/v1/openapi.json";

const paths: Record<string, PathItem> = {
  "/api/v1/things": {
    get: {
      operationId: "listThings",
      summary: "List things",
      description: "Things, newest first.\n\nFilters apply to `createdAt`.",
      parameters: [
        { name: "since", in: "query", example: "2026-11-01", schema: { type: "string" } },
        { name: "until", in: "query", example: "2026-11-01", schema: { type: "string" } },
        { name: "owner", in: "query", required: true, example: "O'Brien", schema: { type: "string" } },
        { name: "limit", in: "query", schema: { type: "integer", minimum: 1, default: 100 } },
      ],
      responses: {
        200: {
          description: "Some things.",
          content: { "application/json": { schema: { $ref: "#/components/schemas/ThingList" } } },
        },
        400: { description: "`bad_request`: a parameter is invalid." },
        500: { description: "`internal`: failure on our side; retry with backoff." },
      },
    },
  },
};

const webhooks: Record<string, PathItem> = {
  "thing.made": {
    post: {
      operationId: "thingMade",
      summary: "A thing was made",
      parameters: [
        {
          name: "Service-Event",
          in: "header",
          required: true,
          description: "Event type.",
          schema: { type: "string", const: "thing.made" },
        },
        {
          name: "Service-Signature",
          in: "header",
          required: true,
          description: "Verify it.",
          example: "t=1,v1=ab",
          schema: { type: "string" },
        },
      ],
      requestBody: {
        content: {
          "application/json": {
            schema: {
              type: "object",
              required: ["type", "data"],
              properties: {
                type: { type: "string", const: "thing.made" },
                data: { $ref: "#/components/schemas/Thing" },
              },
            },
          },
        },
      },
      responses: {
        "2XX": { description: "Delivered." },
        410: { description: "`gone`: disables the endpoint." },
        default: { description: "Tried again." },
      },
    },
  },
};

const schemas: Record<string, Schema> = {
  Thing: {
    type: "object",
    required: ["id", "status", "tags", "clickIds"],
    properties: {
      id: { type: "string", description: "Its identifier.", examples: ["t_1"] },
      status: {
        anyOf: [
          { type: "string", enum: ["active"] },
          { type: "string", enum: ["paused"] },
        ],
      },
      owner: {
        type: "object",
        required: ["phone"],
        properties: { phone: { anyOf: [{ type: "string" }, { type: "null" }] } },
      },
      tags: {
        type: "array",
        maxItems: 12,
        items: { type: "object", required: ["key"], properties: { key: { type: "string" } } },
      },
      clickIds: { type: "object", patternProperties: { "^.*$": { type: "string" } } },
      parent: { $ref: "#/components/schemas/Thing", description: "The thing above." },
    },
  },
  ThingList: {
    type: "object",
    required: ["data"],
    properties: { data: { type: "array", items: { $ref: "#/components/schemas/Thing" } } },
  },
};

test("the request is a curl command with a line for each header and parameter", () => {
  assert.equal(
    textOf(sectionOf(render(), "endpoint-listThings"), /<pre><code>(.*?)<\/code>/s),
    [
      "curl --get 'https://book.example.com/api/v1/things' \\",
      "  --header 'Authorization: Bearer <API_KEY>' \\",
      "  --data-urlencode 'since=2026-11-01' \\",
      "  --data-urlencode 'owner=O'\\''Brien' \\",
      "  --data-urlencode 'limit=100'",
    ].join("\n"),
  );
});

test("properties of unnamed objects are listed with their path, with marks for optional and nullable", () => {
  assert.deepEqual(rowsOf(sectionOf(render(), "schema-Thing")), [
    ["id string", "Its identifier."],
    ["status string", "One of active, paused"],
    ["owner object, optional", ""],
    ["owner.phone string, nullable", ""],
    ["tags array of object", "Entries at most 12"],
    ["tags[].key string", ""],
    ["clickIds object of string by name", ""],
    ["parent Thing, optional", "The thing above."],
  ]);
});

test("every status is listed with its code, and a code leads to the errors", () => {
  const page = render();
  assert.deepEqual(rowsOf(sectionOf(page, "endpoint-listThings")).slice(-3), [
    ["200", "none", "Some things. Body: ThingList"],
    ["400", "bad_request", "A parameter is invalid."],
    ["500", "internal", "Failure on our side; retry with backoff."],
  ]);
  assert.deepEqual(rowsOf(sectionOf(page, "errors")), [
    ["400", "bad_request", "A parameter is invalid."],
    ["500", "internal", "Failure on our side; retry with backoff."],
  ]);
  assert.match(page, /<a href="#error-400-bad_request">/);
});

test("there is no chapter on webhooks in a document without webhooks", () => {
  assert.doesNotMatch(render(), /webhook/i);
});

test("a webhook is shown with the headers and the body that are sent", () => {
  const page = render({ webhooks });
  assert.match(page, /<a href="#webhooks">Webhooks<\/a>/);
  const section = sectionOf(page, "webhook-thingMade");
  assert.match(section, /POST<\/span> <code>thing\.made<\/code>/);
  assert.deepEqual(rowsOf(section), [
    ["Service-Event string, required", "Event type. Always thing.made"],
    ["Service-Signature string, required", "Verify it. Example t=1,v1=ab"],
    ["type string", "Always thing.made"],
    ["data Thing", ""],
    ["2XX", "Delivered."],
    ["410", "gone: disables the endpoint."],
    ["default", "Tried again."],
  ]);
  assert.equal(textOf(section, /<pre><code>(.*?)<\/code>/s), "Service-Event: thing.made\nService-Signature: t=1,v1=ab");
  assert.match(
    textOf(section, /Body we send.*?<pre><code>(.*?)<\/code>/s),
    /^\{\n {2}"type": "thing.made",\n {2}"data": \{/,
  );
});

test("whatever a document says stays text", () => {
  const hostile = `</code></pre><script>alert(1)</script><img src=x onerror="alert(2)">' \`<b>\` "`;
  const page = renderReference(
    {
      info: { title: hostile, version: hostile, description: hostile, license: { name: hostile } },
      servers: [{ url: hostile }],
      paths: {
        [hostile]: {
          get: {
            operationId: hostile,
            summary: hostile,
            description: hostile,
            parameters: [
              {
                name: hostile,
                in: "query",
                description: hostile,
                example: hostile,
                schema: { type: hostile, format: hostile },
              },
            ],
            responses: {
              [hostile]: {
                description: hostile,
                content: { [hostile]: { schema: { $ref: "#/components/schemas/Hostile" } } },
              },
              400: { description: hostile, content: { [hostile]: { example: { [hostile]: hostile } } } },
            },
          },
        },
      },
      webhooks: { [hostile]: { post: { parameters: [{ name: hostile, in: "header", example: hostile }] } } },
      components: {
        securitySchemes: { [hostile]: { type: hostile, description: hostile } },
        schemas: {
          Hostile: {
            type: "object",
            required: [hostile],
            properties: { [hostile]: { type: "string", description: hostile, enum: [hostile], pattern: hostile } },
          },
          [hostile]: { type: hostile },
        },
      },
    },
    frame,
    documentAddress,
  );
  assert.doesNotMatch(page, /<script|<img|<b>/i);
  // Every tag is one that the templates write, with no attribute of another's making.
  for (const [tag] of page.matchAll(/<[^>]*>/g))
    assert.match(tag, /^<(?:!doctype html|\/?[a-z][a-z0-9]*(?: [a-z-]+="[^"<>]*")*)>$/);
  assert.doesNotMatch(page, / on[a-z]+="/i);
  assert.doesNotMatch(page, /href="(?!#|\/|data:,)/);
});

test("anchors are unique, every link on the page leads somewhere, and headings skip no level", () => {
  const page = render({ webhooks });
  const anchors = [...page.matchAll(/ id="([^"]*)"/g)].map(([, anchor]) => anchor);
  assert.deepEqual(anchors, [...new Set(anchors)]);
  const targets = [...page.matchAll(/ href="#([^"]*)"/g)].map(([, target]) => target);
  assert.deepEqual(
    targets.filter((target) => !anchors.includes(target)),
    [],
  );
  const levels = [...page.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
  assert.equal(levels.filter((level) => level === 1).length, 1);
  for (const [index, level] of levels.entries()) assert.ok(level <= (levels[index - 1] ?? 0) + 1, `heading ${index}`);
});

test("every table has a caption of its own, and every heading cell a scope", () => {
  const page = render({ webhooks });
  const captions = [...page.matchAll(/<table[^>]*>\n<caption[^>]*>([^<]+)</g)].map(([, caption]) => caption);
  assert.equal(captions.length, page.match(/<table/g)?.length);
  assert.deepEqual(captions, [...new Set(captions)]);
  assert.doesNotMatch(page, /<th>/);
});

test("the page has no script and no style but the stylesheet", () => {
  const page = render({ webhooks });
  assert.doesNotMatch(page, /<script|<style|style=|javascript:/i);
  assert.match(page, /<link rel="stylesheet" href="\/docs\/docs\.css">/);
});

function render(more: Partial<OpenApiDocument> = {}): string {
  const document: OpenApiDocument = {
    info: { title: "Example API", version: "1", description: "Read it." },
    servers: [{ url: "https://book.example.com" }],
    paths,
    components: { schemas, securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "A key." } } },
    ...more,
  };
  return renderReference(document, frame, documentAddress);
}

function sectionOf(page: string, anchor: string): string {
  const section = page.split('<section class="entry" ').find((part) => part.startsWith(`id="${anchor}"`));
  assert.ok(section, `no section ${anchor}`);
  return section;
}

/** The cells of every table in the markup, as a reader sees them. */
function rowsOf(markup: string): string[][] {
  return [...markup.matchAll(/<tr><th scope="row">(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    row.split("<td>").map((cell) =>
      toText(cell.replaceAll(/<\/p>|<\/code>\n|<ul/g, " $&"))
        .replaceAll(/\s+/g, " ")
        .trim(),
    ),
  );
}

function textOf(markup: string, pattern: RegExp): string {
  return toText(pattern.exec(markup)?.[1] ?? "");
}

function toText(markup: string): string {
  const entities: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };
  return markup.replaceAll(/<[^>]*>/g, "").replaceAll(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? "");
}
