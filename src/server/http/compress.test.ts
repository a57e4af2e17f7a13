import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { createTestApp } from "../../../test/support/app/app.ts";
import { makeCaller } from "../../../test/support/app/read-api.ts";
import { signIn } from "../../../test/support/app/sign-in.ts";
import { makeWidget } from "../../../test/support/builders.ts";
import { chooseEncoding } from "./compress.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;
const { owner, headers } = await makeCaller(deps.db);
for (let n = 0; n < 10; n++) await makeWidget(deps.db, owner, { name: `Widget number ${n}` });

describe("responses are compressed if asked for", () => {
  const ask = (encoding?: string) =>
    app.inject({
      url: "/api/v1/widgets",
      headers: { ...headers, ...(encoding ? { "accept-encoding": encoding } : {}) },
    });

  test("with gzip, br and zstd, and the same JSON inside", async () => {
    const plain = await ask();
    assert.deepEqual([plain.headers["content-encoding"], plain.headers["vary"]], [undefined, "Accept-Encoding"]);
    for (const [encoding, decompress] of [
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
      ["zstd", zstdDecompressSync],
    ] as const) {
      const response = await ask(encoding);
      assert.equal(response.headers["content-encoding"], encoding);
      assert.equal(response.headers["vary"], "Accept-Encoding");
      assert.equal(response.headers["content-length"], String(response.rawPayload.length));
      assert.ok(response.rawPayload.length < plain.rawPayload.length);
      assert.equal(decompress(response.rawPayload).toString(), plain.body);
    }
  });

  test("HEAD has the same headers", async () => {
    const asked = { url: "/api/v1/widgets", headers: { ...headers, "accept-encoding": "gzip" } };
    const [get, head] = [await app.inject(asked), await app.inject({ ...asked, method: "HEAD" })];
    const headersOf = (response: typeof get) =>
      ["content-encoding", "content-length", "vary"].map((name) => response.headers[name]);
    assert.deepEqual(headersOf(head), headersOf(get));
    assert.equal(head.body, "");
  });

  test("but not short responses, or what nobody asked for", async () => {
    const short = await app.inject({ url: "/api/v1/widgets", headers: { "accept-encoding": "gzip" } });
    assert.deepEqual([short.statusCode, short.headers["content-encoding"]], [401, undefined]);
    for (const encoding of ["identity", "deflate", "gzip;q=0"])
      assert.equal((await ask(encoding)).headers["content-encoding"], undefined, encoding);
  });

  test("and the dashboard's API does for reads by its own page alone", async () => {
    const { cookie, organizationId } = await signIn(testApp, { role: "viewer", organizationId: owner });
    const read = async (path: string, headers: Record<string, string>) => {
      const all = { cookie, "accept-encoding": "gzip, br, zstd", ...headers };
      const response = await app.inject({ url: `/api/app${path}`, headers: all });
      assert.equal(response.statusCode, 200);
      return response;
    };
    const plain = await read("/widgets", {});
    assert.equal(plain.headers["content-encoding"], undefined, "a link of another site has no header of ours");
    const linked = await read(`/widgets?organization=${organizationId}`, {});
    assert.equal(linked.headers["content-encoding"], undefined);
    const ours = await read("/widgets", { "x-organization": organizationId });
    assert.deepEqual([ours.headers["content-encoding"], ours.headers["vary"]], ["zstd", "Accept-Encoding"]);
    assert.equal(zstdDecompressSync(ours.rawPayload).toString(), plain.body);
  });
});

test("the highest weight wins, then our order", () => {
  for (const [header, expected] of [
    ["gzip, deflate, br, zstd", "zstd"],
    ["gzip, br", "br"],
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["*", "zstd"],
    ["zstd;q=0, *;q=0.5", "br"],
    ["deflate", null],
    ["gzip;q=nonsense", null],
    ["", null],
  ] as const)
    assert.equal(chooseEncoding(header), expected, header);
});
