import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "vite";

// Tests start the service and its command line about two hundred times. Most of a start is spent on finding, reading and linking
// two thousand small files, so programs that tests start are bundled into a few large ones. Tests of the packed service and of
// `npm start` start the programs as they are.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAMS = { service: "src/server/main.ts", "command-line": "src/server/cli/main.ts" };
const SOURCES = ["src/{contract,server}/**/*.ts", "package-lock.json", "scripts/test-programs.ts"];
const DAY_MS = 24 * 60 * 60_000;

/** Sets TEST_NODE_OPTIONS for test/support/programs/clean-environment.ts. The programs are bundled again when their sources change. */
export async function bundlePrograms(): Promise<void> {
  const folder = join(ROOT, "node_modules/.cache", `bookflow-programs-${hashSources()}`);
  if (!existsSync(folder)) await build(folder);
  process.env["TEST_NODE_OPTIONS"] = `--import ${pathToFileURL(join(folder, "use.mjs")).href}`;
}

function hashSources(): string {
  const hash = createHash("sha256");
  const files = globSync(SOURCES, { cwd: ROOT, exclude: ["**/*.test.ts"] }).sort();
  for (const file of files) hash.update(file).update(readFileSync(join(ROOT, file)));
  return hash.digest("hex").slice(0, 16);
}

async function build(folder: string): Promise<void> {
  removeOld(dirname(folder));
  const draft = join(dirname(folder), `draft-${process.pid}`);
  const vite = await import("vite");
  await vite.build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    publicDir: false,
    plugins: [keepPlaces],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: "esnext",
      outDir: draft,
      rolldownOptions: {
        input: PROGRAMS,
        output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  });
  writeFileSync(join(draft, "use.mjs"), toHook());
  // Two runs may build it at the same time.
  if (existsSync(folder)) rmSync(draft, { recursive: true });
  else renameSync(draft, folder);
}

/** Another run may still use one of today's. */
function removeOld(cache: string): void {
  for (const path of globSync(join(cache, "bookflow-programs-*")))
    if (statSync(path).mtimeMs < Date.now() - DAY_MS) rmSync(path, { recursive: true });
}

/** A bundled module still finds the files next to its source. */
const keepPlaces: Plugin = {
  name: "keep-places",
  transform(code, path) {
    const places = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
    const toPlace = (_: string, name: string) => JSON.stringify(places[name as keyof typeof places]);
    return code.includes("import.meta.") ? code.replaceAll(/\bimport\.meta\.(url|dirname|filename)\b/g, toPlace) : null;
  },
};

/** Only what a process starts with is replaced. */
function toHook(): string {
  const programs = Object.entries(PROGRAMS).map(([name, source]) => [pathToFileURL(join(ROOT, source)).href, name]);
  // npm runs on the machine's Node, which may be too old for hooks.
  return `import module from "node:module";
const programs = new Map(${JSON.stringify(programs)}.map(([source, name]) => [source, new URL(name + ".mjs", import.meta.url).href]));
module.registerHooks?.({
  resolve(name, context, next) {
    const url = context.parentURL === undefined ? programs.get(name) : undefined;
    return url === undefined ? next(name, context) : { url, format: "module", shortCircuit: true };
  },
});
`;
}
