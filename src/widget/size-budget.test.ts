import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { LANGUAGES } from "#contract/widgets/languages.ts";
import { buildBrowserFiles } from "../../scripts/build.ts";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));

const FRAME_BYTES_MAX = 35 * 1024;
const LOADER_BYTES_MAX = 4 * 1024;

/** The compressed size of all files matching these patterns, as a browser gets them. */
function measure(...patterns: string[]): number {
  const files = globSync(patterns, { cwd: DIST });
  assert.equal(files.length, patterns.length, files.join(", "));
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(DIST + file), { level: 9 }).length, 0);
}

describe("visitors load little", () => {
  before(async () => await buildBrowserFiles());

  for (const language of LANGUAGES)
    test(`the frame in ${language} is at most ${FRAME_BYTES_MAX} bytes`, () => {
      const bytes = measure(
        "assets/frame/main-*.js",
        "assets/frame/main-*.css",
        `assets/frame/${language}-????????.js`,
      );
      assert.ok(bytes <= FRAME_BYTES_MAX, `${bytes} bytes`);
    });

  test("the frame loads nothing else", () =>
    assert.equal(globSync("assets/frame/*.{js,css}", { cwd: DIST }).length, 2 + LANGUAGES.length));

  test(`the loader is at most ${LOADER_BYTES_MAX} bytes with gzip, and less with Brotli`, () => {
    const script = readFileSync(`${DIST}loader/loader.js`);
    const [zipped, brotli] = [readFileSync(`${DIST}loader/loader.js.gz`), readFileSync(`${DIST}loader/loader.js.br`)];
    assert.ok(zipped.length <= LOADER_BYTES_MAX, `${zipped.length} bytes`);
    assert.deepEqual(gunzipSync(zipped), script);
    assert.equal(brotli.length, brotliCompressSync(script).length, "the best level");
  });
});
