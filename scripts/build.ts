import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { InlineConfig } from "vite";
import { offerHelp } from "../src/server/lib/offer-help.ts";

// `npm run build`: builds the browser files from src/widget, src/dashboard and src/docs into dist/. It does nothing when dist/
// is up to date, so that `npm start` and `npm test` can call it every time.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");
const STAMP = "made-from";

const SOURCES = ["src/{contract,widget,dashboard,docs}/**/*", "scripts/build.ts", "package-lock.json"];
const COMPRESSED = ["**/*.js", "**/*.css", "**/*.svg"];
/** Levels 10 and 11 take several times as long and save 7% of the bytes: only the loader, which every page loads, is worth it. */
const toBrotliOptions = (file: string) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: file.startsWith("loader") ? 11 : 9 },
});
const BROWSERS = ["chrome111", "edge111", "firefox114", "safari16.4"];
const SHARED = { root: ROOT, configFile: false, logLevel: "warn", publicDir: false } as const;
/** On a busy machine it would warn about slow builds. */
const CHECKS = { pluginTimings: false };

const brotli = promisify(brotliCompress) as (
  bytes: Buffer,
  options: ReturnType<typeof toBrotliOptions>,
) => Promise<Buffer>;
const toGzip = promisify(gzip) as (bytes: Buffer, options: { level: number }) => Promise<Buffer>;

/** Returns whether anything had to be built. */
export async function buildBrowserFiles(): Promise<boolean> {
  const stamp = hashSources();
  if (existsSync(join(DIST, STAMP)) && readFileSync(join(DIST, STAMP), "utf8") === stamp) return false;
  // Built in a separate folder and moved at the end, so that a running service keeps its files until then.
  const folder = `${DIST}-${process.pid}`;
  // Imported here because loading it takes longer than the check above.
  const { build } = await import("vite");
  const parts = [toLoader(folder), toFrame(folder), toDashboard(folder), toDocs(folder)];
  await Promise.all(parts.map((config) => build(config)));
  await addScalar(join(folder, "assets/docs"));
  await compress(folder);
  writeFileSync(join(folder, STAMP), stamp);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(folder, DIST);
  return true;
}

const LOADER_TARGET = "es2020";

/**
 * Properties of the loader's own objects that get a short name, to save bytes. None of them is stored, sent to the frame or the
 * server, offered to the page, or a property that the loader uses of something in the browser.
 */
const LOADER_PROPERTIES = /^(site|root|place|whole|tags|base|tell|read|decide|element|page|at)$/;

/** One classic script without imports, because page owners paste it into pages of every age. */
function toLoader(folder: string): InlineConfig {
  return {
    ...SHARED,
    build: {
      target: LOADER_TARGET,
      // Every browser that can show the loader understands its styles as they are: constructable stylesheets are newer.
      cssTarget: "esnext",
      outDir: join(folder, "loader"),
      rolldownOptions: {
        checks: CHECKS,
        optimization: { inlineConst: { mode: "all" } },
        output: {
          // Only constants that stay constants are inlined.
          topLevelVar: false,
          minify: { compress: { target: LOADER_TARGET }, mangleProps: { include: LOADER_PROPERTIES } },
        },
      },
      lib: {
        entry: join(ROOT, "src/widget/loader/main.ts"),
        formats: ["iife"],
        name: "bookflowLoader",
        fileName: () => "loader.js",
      },
    },
  };
}

function toFrame(folder: string): InlineConfig {
  return {
    ...SHARED,
    base: "/assets/frame/",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      target: BROWSERS,
      outDir: join(folder, "assets/frame"),
      assetsDir: "",
      manifest: "manifest.json",
      modulePreload: { polyfill: false },
      rolldownOptions: { checks: CHECKS, input: join(ROOT, "src/widget/frame/main.tsx") },
    },
  };
}

function toDashboard(folder: string): InlineConfig {
  return {
    ...SHARED,
    root: join(ROOT, "src/dashboard"),
    base: "/assets/dashboard/",
    build: {
      target: BROWSERS,
      outDir: join(folder, "assets/dashboard"),
      emptyOutDir: true,
      assetsDir: "",
      chunkSizeWarningLimit: 1500,
      rolldownOptions: {
        checks: CHECKS,
        // Without this, all 6,000 Tabler icons are read for the 50 in use.
        experimental: { lazyBarrel: true },
        // Mantine and the router mark files for React server rendering, which we don't use.
        onLog: (level, log, warn) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : warn(level, log)),
      },
    },
  };
}

function toDocs(folder: string): InlineConfig {
  return {
    ...SHARED,
    base: "/assets/docs/",
    build: {
      target: BROWSERS,
      outDir: join(folder, "assets/docs"),
      assetsDir: "",
      manifest: "manifest.json",
      modulePreload: { polyfill: false },
      rolldownOptions: {
        checks: CHECKS,
        input: ["guides", "reference"].map((page) => join(ROOT, `src/docs/${page}/main.ts`)),
      },
    },
  };
}

/**
 * Adds the script of the API reference. The package keeps it inside a Fastify plugin, which would hold 4 MB in memory and
 * send them uncompressed; so the plugin runs here once, and the service sends a file like any other.
 */
async function addScalar(folder: string): Promise<void> {
  const [{ default: Fastify }, { default: scalar }] = await Promise.all([
    import("fastify"),
    import("@scalar/fastify-api-reference"),
  ]);
  const app = Fastify();
  await app.register(scalar, { routePrefix: "/", configuration: { content: {} } });
  const { statusCode, rawPayload } = await app.inject("/js/scalar.js");
  await app.close();
  if (statusCode !== 200) throw new Error("@scalar/fastify-api-reference no longer serves /js/scalar.js");
  const name = `scalar-${createHash("sha256").update(rawPayload).digest("hex").slice(0, 8)}.js`;
  writeFileSync(join(folder, name), rawPayload);
  const path = join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify({ ...manifest, scalar: { file: name } }));
}

function hashSources(): string {
  const hash = createHash("sha256");
  const files = globSync(SOURCES, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort()) {
    if (!path.endsWith(".test.ts"))
      hash.update(path.slice(ROOT.length)).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

/** Writes compressed copies beside each file, for browsers that accept them. */
async function compress(folder: string): Promise<void> {
  const write = async (file: string) => {
    const path = join(folder, file);
    const bytes = await readFile(path);
    await Promise.all([
      brotli(bytes, toBrotliOptions(file)).then((compressed) => writeFile(`${path}.br`, compressed)),
      toGzip(bytes, { level: 9 }).then((compressed) => writeFile(`${path}.gz`, compressed)),
    ]);
  };
  await Promise.all(globSync(COMPRESSED, { cwd: folder }).map(write));
}

if (import.meta.main) {
  offerHelp(`npm run build

Builds the browser files into dist/, unless they are up to date. npm start does it too.`);
  console.log((await buildBrowserFiles()) ? "Built dist/." : "dist/ is up to date.");
}
