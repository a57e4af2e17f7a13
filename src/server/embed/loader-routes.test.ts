import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import Fastify from "fastify";
import { createTestApp } from "../../../test/support/app/app.ts";
import { loaderRoutes } from "./loader-routes.ts";

const SCRIPT = "(function(){})();";

async function makeFolder(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), "loader-"));
  after(() => rm(folder, { recursive: true, force: true }));
  return pathToFileURL(`${folder}/`);
}

async function fillFolder(folder: URL): Promise<void> {
  await writeFile(new URL("loader.js", folder), SCRIPT);
  await writeFile(new URL("loader.js.br", folder), brotliCompressSync(SCRIPT));
  await writeFile(new URL("loader.js.gz", folder), gzipSync(SCRIPT));
}

async function serve(folder: URL) {
  const app = Fastify();
  after(() => app.close());
  loaderRoutes(app, folder);
  return (headers: Record<string, string> = {}) => app.inject({ url: "/loader.js", headers });
}

test("the loader is a script that any site can cache and use", async () => {
  const folder = await makeFolder();
  await fillFolder(folder);
  const get = await serve(folder);
  const { statusCode, headers, body } = await get();
  assert.equal(statusCode, 200);
  assert.equal(body, SCRIPT);
  assert.equal(headers["content-type"], "text/javascript; charset=utf-8");
  assert.equal(headers["cache-control"], "public, max-age=300, stale-while-revalidate=86400");
  assert.equal(headers["cross-origin-resource-policy"], "cross-origin");
  assert.equal(headers["access-control-allow-origin"], "*");
  assert.equal(headers["vary"], "Accept-Encoding");
  assert.equal(headers["content-encoding"], undefined);
  assert.match(String(headers["etag"]), /^"[\w-]{22}"$/);
});

test("it is compressed for clients that accept compression", async () => {
  const folder = await makeFolder();
  await fillFolder(folder);
  const get = await serve(folder);
  const br = await get({ "accept-encoding": "gzip, deflate, br, zstd" });
  assert.equal(br.headers["content-encoding"], "br");
  assert.equal(brotliDecompressSync(br.rawPayload).toString(), SCRIPT);
  const gzip = await get({ "accept-encoding": "gzip;q=1.0, br;q=0" });
  assert.equal(gzip.headers["content-encoding"], "gzip");
  assert.equal(gunzipSync(gzip.rawPayload).toString(), SCRIPT);
  assert.notEqual(br.headers["etag"], gzip.headers["etag"]);
  for (const none of ["", "identity", "zstd", "gzip;q=0, br;q=0.000"]) {
    assert.equal((await get({ "accept-encoding": none })).headers["content-encoding"], undefined, none);
  }
});

test("a client with the current version gets 304, and one with another version gets this one", async () => {
  const folder = await makeFolder();
  await fillFolder(folder);
  const get = await serve(folder);
  const etag = String((await get()).headers["etag"]);
  const again = await get({ "if-none-match": `"other", W/${etag}` });
  assert.deepEqual([again.statusCode, again.body, again.headers["etag"]], [304, "", etag]);
  assert.equal((await get({ "if-none-match": '"other"' })).statusCode, 200);
  assert.equal((await get({ "if-none-match": etag, "accept-encoding": "br" })).statusCode, 200);
});

test("before the build it is 503, and after the build it is served without a restart", async () => {
  const folder = await makeFolder();
  const get = await serve(folder);
  const before = await get();
  assert.equal((before.json() as { message: string }).message, "The loader is not built yet. Run `npm run build`.");
  await fillFolder(folder);
  assert.equal((await get()).statusCode, 200);
});

test("the service sends its own headers with it, and 405 for other methods", async () => {
  const { app } = await createTestApp();
  const response = await app.inject({ url: "/loader.js" });
  // Browser files are built before tests run; without them the response says so.
  assert.ok([200, 503].includes(response.statusCode), String(response.statusCode));
  assert.equal(response.headers["x-content-type-options"], "nosniff");
  assert.equal((await app.inject({ url: "/loader.js", method: "HEAD" })).statusCode, response.statusCode);
  const post = await app.inject({ url: "/loader.js", method: "POST" });
  assert.deepEqual([post.statusCode, post.headers["allow"]], [405, "GET, HEAD"]);
});
