import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

// `npm run build`: what browsers get, made into dist/ from src/widget and src/dashboard. It does nothing when dist/ was made
// from the files as they are now, so that `npm start` and `npm test` can call it every time.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "dist");
const STAMP = "made-from";

const SOURCES = ["src/{contract,widget,dashboard}/**/*", "scripts/build.ts", "package-lock.json"];
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
  compress(folder);
  writeFileSync(join(folder, STAMP), stamp);
  rmSync(DIST, { recursive: true, force: true });
  renameSync(folder, DIST);
  return true;
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
