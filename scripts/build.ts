import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// `npm run build`: builds what browsers load from src/widget, src/dashboard and src/docs into dist/. It does nothing when
// dist/ is up to date, so that `npm start` and `npm test` can call it every time.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");
const STAMP = "made-from";

const SOURCES = ["src/{contract,widget,dashboard,docs}/**/*", "scripts/build.ts", "package-lock.json"];
const COMPRESSED = ["**/*.js", "**/*.css", "**/*.svg"];
/** Its last two levels take most of the build's time and save a fifteenth of the bytes. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Returns whether anything had to be made. */
export async function buildBrowserFiles(): Promise<boolean> {
  const stamp = hashSources();
  if (existsSync(join(DIST, STAMP)) && readFileSync(join(DIST, STAMP), "utf8") === stamp) return false;
  // Made beside and put in place at the end: a service that runs meanwhile goes on with the files it has.
  const folder = `${DIST}-${process.pid}`;
  // Loaded only when needed: it takes longer to load than the check above.
  const { build } = await import("vite");
  const shared = { root: ROOT, configFile: false, logLevel: "warn", publicDir: false } as const;
  const target = ["chrome111", "edge111", "firefox114", "safari16.4"];

  // One classic script without imports: page owners paste it into pages of every age.
  await build({
    ...shared,
    build: {
      target: "es2020",
      // Older browsers cannot show the loader: they lack the stylesheets that scripts make.
      cssTarget: target,
      outDir: join(folder, "loader"),
      lib: {
        entry: join(ROOT, "src/widget/loader/main.ts"),
        formats: ["iife"],
        name: "bookflowLoader",
        fileName: () => "loader.js",
      },
    },
  });
  await build({
    ...shared,
    base: "/assets/frame/",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      target,
      outDir: join(folder, "assets/frame"),
      assetsDir: "",
      manifest: "manifest.json",
      modulePreload: { polyfill: false },
      rolldownOptions: { input: join(ROOT, "src/widget/frame/main.tsx") },
    },
  });
  if (existsSync(join(ROOT, "src/dashboard/index.html"))) {
    await build({
      ...shared,
      root: join(ROOT, "src/dashboard"),
      base: "/assets/dashboard/",
      build: {
        target,
        outDir: join(folder, "assets/dashboard"),
        emptyOutDir: true,
        assetsDir: "",
        chunkSizeWarningLimit: 1500,
        rolldownOptions: {
          // Mantine and the router mark their files for servers that render React; nothing is rendered on ours.
          onLog: (level, log, warn) => (log.code === "MODULE_LEVEL_DIRECTIVE" ? undefined : warn(level, log)),
        },
      },
    });
  }
  await build({
    ...shared,
    base: "/assets/docs/",
    build: {
      target,
      outDir: join(folder, "assets/docs"),
      assetsDir: "",
      manifest: "manifest.json",
      modulePreload: { polyfill: false },
      rolldownOptions: { input: ["guides", "reference"].map((page) => join(ROOT, `src/docs/${page}/main.ts`)) },
    },
  });
  await addScalar(join(folder, "assets/docs"));
  compress(folder);
  writeFileSync(join(folder, STAMP), stamp);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(folder, DIST);
  return true;
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

/** Next to each file its compressed forms, which are served to browsers that take them. */
function compress(folder: string): void {
  for (const file of globSync(COMPRESSED, { cwd: folder })) {
    const bytes = readFileSync(join(folder, file));
    writeFileSync(join(folder, `${file}.br`), brotliCompressSync(bytes, BROTLI));
    writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

if (import.meta.main) console.log((await buildBrowserFiles()) ? "Made dist/." : "dist/ is up to date.");
