import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Attribution } from "#contract/attribution.ts";
import { createTestApp } from "../../../test/support/app.ts";
import type { OpenApiDocument, Schema } from "../reference/openapi-document.ts";
import { listEndpoints } from "../reference/operations.ts";

const { app } = await createTestApp({ baseUrl: "https://book.example.com" });
const page = (await app.inject("/docs/api")).body;
const document: OpenApiDocument = (await app.inject("/api/v1/openapi.json")).json();

test("GET /docs/api is an HTML page that may load nothing but our stylesheet", async () => {
  const answer = await app.inject("/docs/api");
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers["content-type"], "text/html; charset=utf-8");
  assert.equal(
    answer.headers["content-security-policy"],
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
  );
  assert.doesNotMatch(page, /<script|<style|style=|https?:\/\/(?!book\.example\.com|localhost)[^<]*"/i);
});

test("every file the page links to is there; the stylesheet may be cached", async () => {
  const addresses = new Set([...page.matchAll(/href="(\/[^"]*)"/g)].map(([, address = ""]) => address));
  for (const address of addresses) assert.equal((await app.inject(address)).statusCode, 200, address);
  assert.ok(addresses.has("/api/v1/openapi.json"));
  const stylesheet = await app.inject("/docs/docs.css");
  assert.equal(stylesheet.headers["content-type"], "text/css; charset=utf-8");
  assert.equal(stylesheet.headers["cache-control"], "public, max-age=300");
});

test("every endpoint and parameter of the service is on the page", () => {
  const endpoints = listEndpoints(document);
  assert.ok(endpoints.length >= 2);
  for (const { anchor, address, title, parameters } of endpoints) {
    const section = sectionOf(anchor);
    assert.ok(section.includes(`<a href="#${anchor}">${title}</a>`), title);
    assert.ok(section.includes(`<code>${address}</code>`), address);
    assert.deepEqual(
      namesOf(section),
      parameters.map(({ name }) => name),
    );
  }
});

test("every error code of the service is on the page", () => {
  const codes = [...JSON.stringify(document.paths ?? {}).matchAll(/"`([a-z_]+)`:/g)].map(([, code = ""]) => code);
  assert.ok(codes.includes("unauthorized"));
  for (const code of new Set(codes)) assert.ok(sectionOf("errors").includes(`<code>${code}</code>`), code);
});

test("every property of every schema of the service is on the page", () => {
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    assert.deepEqual(namesOf(sectionOf(`schema-${name}`)), listPropertyNames(schema));
  }
  assert.deepEqual(namesOf(sectionOf("schema-Attribution")), Object.keys(Attribution.properties));
});

test("anchors are unique and every link on the page leads somewhere", () => {
  const anchors = [...page.matchAll(/ id="([^"]*)"/g)].map(([, anchor]) => anchor);
  assert.deepEqual(anchors, [...new Set(anchors)]);
  const targets = [...page.matchAll(/ href="#([^"]*)"/g)].map(([, target]) => target);
  assert.deepEqual(
    targets.filter((target) => !anchors.includes(target)),
    [],
  );
});

test("every link of the dashboard to a document leads to what it names", async () => {
  const screens = globSync("src/dashboard/**/*.tsx").map((file) => readFileSync(file, "utf8"));
  const links = screens.flatMap((text) => [...text.matchAll(/"(\/docs[^"]*)"/g)].map(([, link = ""]) => link));
  assert.ok(links.length > 0);
  for (const link of links) {
    const { statusCode, body } = await app.inject(link);
    assert.equal(statusCode, 200, link);
    const anchor = link.split("#")[1];
    if (anchor !== undefined) assert.ok(body.includes(` id="${anchor}"`), link);
  }
});

function sectionOf(anchor: string): string {
  const section = page.split('<section class="entry" ').find((part) => part.startsWith(`id="${anchor}"`));
  assert.ok(section, `no section ${anchor}`);
  return section;
}

/** The last part of each name in the tables: `phone` of `customer.phone`. */
function namesOf(section: string): string[] {
  return [...section.matchAll(/<code class="name"><span class="path">[^<]*<\/span>([^<]*)<\/code>/g)].map(
    ([, name = ""]) => name,
  );
}

/** Written without a look at the page's own walk: whatever stands under `properties`, at any depth. */
function listPropertyNames(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(listPropertyNames);
  if (typeof node !== "object" || node === null) return [];
  const { properties, ...rest } = node as Schema;
  const own = Object.entries(properties ?? {}).flatMap(([name, property]) => [name, ...listPropertyNames(property)]);
  return [...own, ...Object.values(rest).flatMap(listPropertyNames)];
}
