import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { createTestApp } from "../../../test/support/app/app.ts";

const { app } = await createTestApp();

test("GET /docs/api can only load from and contact our own origin", async () => {
  const response = await app.inject("/docs/api");
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers["content-type"], "text/html; charset=utf-8");
  assert.equal(
    response.headers["content-security-policy"],
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
});

test("its files exist, are compressed and cached for ever", async () => {
  const { body } = await app.inject("/docs/api");
  const files = [...body.matchAll(/"(\/assets\/docs\/[^"]*)"/g)].map(([, address = ""]) => address);
  assert.equal(files.length, 3);
  for (const url of files) {
    const response = await app.inject({ url, headers: { "accept-encoding": "br" } });
    assert.equal(response.statusCode, 200, url);
    assert.equal(response.headers["cache-control"], "public, max-age=31536000, immutable", url);
    assert.equal(response.headers["content-encoding"], "br", url);
  }
});

test("every dashboard link to a document leads to what it names", async () => {
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

test("the documents use the dashboard's colours", () => {
  const theme =
    readFileSync("src/dashboard/theme.ts", "utf8") + readFileSync("src/dashboard/shell/Brand.module.css", "utf8");
  const colors = [...readFileSync("src/docs/site.css", "utf8").matchAll(/--[a-z-]+: (#[0-9a-f]{6});/g)];
  assert.ok(colors.length > 15);
  for (const [line, color = ""] of colors) assert.ok(theme.includes(color), line);
});
