import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { createTestApp } from "../../../test/support/app.ts";
import { makeWidget } from "../../../test/support/builders.ts";
import { makeCaller } from "../../../test/support/read-api.ts";
import { signIn } from "../../../test/support/sign-in.ts";
import { chooseEncoding } from "./compress.ts";

const testApp = await createTestApp();
const { app, deps } = testApp;
const { owner, headers } = await makeCaller(deps.db);
for (let n = 0; n < 10; n++) await makeWidget(deps.db, owner, { name: `Widget number ${n}` });

describe("the read API compresses what is asked for", () => {
  const ask = (encoding?: string) =>
    app.inject({
      url: "/api/v1/widgets",
      headers: { ...headers, ...(encoding ? { "accept-encoding": encoding } : {}) },
    });

  test("with gzip, br and zstd, and the same JSON inside", async () => {
    const plain = await ask();
    assert.equal(plain.headers["content-encoding"], undefined);
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

  test("but not for HEAD, short responses, or what nobody asked for", async () => {
    const head = await app.inject({
      method: "HEAD",
      url: "/api/v1/widgets",
      headers: { ...headers, "accept-encoding": "gzip" },
    });
    assert.equal(head.headers["content-encoding"], undefined);
    const short = await app.inject({ url: "/api/v1/widgets", headers: { "accept-encoding": "gzip" } });
    assert.deepEqual([short.statusCode, short.headers["content-encoding"]], [401, undefined]);
    for (const encoding of ["identity", "deflate", "gzip;q=0"])
      assert.equal((await ask(encoding)).headers["content-encoding"], undefined, encoding);
  });

  test("and the dashboard's API never does", async () => {
    const { cookie, organizationId } = await signIn(testApp, { role: "viewer", organizationId: owner });
    const response = await app.inject({
      url: "/api/app/widgets",
      headers: { cookie, "x-organization": organizationId, "accept-encoding": "gzip, br, zstd" },
    });
    assert.deepEqual([response.statusCode, response.headers["content-encoding"]], [200, undefined]);
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
