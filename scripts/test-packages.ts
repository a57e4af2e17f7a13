import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

// Tests start the service and its command line about two hundred times. Half of a start is spent on finding and linking the
// thousand small files of these packages, so programs that tests start get them as a few large files instead. Tests of the
// packed service and of the documented commands start the programs as they are.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = [
  "better-auth",
  "better-auth/plugins/generic-oauth",
  "better-auth/plugins/two-factor",
  "kysely",
  "typebox",
  "typebox/compile",
  "typebox/error",
  "typebox/format",
  "typebox/value",
];

/** Sets TEST_NODE_OPTIONS for test/support/clean-environment.ts. The packages are joined again when the lockfile changes. */
export async function joinPackages(): Promise<void> {
  const source = [readFileSync(join(ROOT, "package-lock.json")), readFileSync(import.meta.filename)];
  const stamp = createHash("sha256").update(Buffer.concat(source)).digest("hex").slice(0, 16);
  const folder = join(ROOT, "node_modules/.cache", `bookflow-packages-${stamp}`);
  if (!existsSync(folder)) await build(folder);
  process.env["TEST_NODE_OPTIONS"] = `--import ${pathToFileURL(join(folder, "use.mjs")).href}`;
}

async function build(folder: string): Promise<void> {
  const draft = `${folder}-${process.pid}`;
  const vite = await import("vite");
  await vite.build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    publicDir: false,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: draft,
      rolldownOptions: {
        input: Object.fromEntries(PACKAGES.map((name) => [toFileName(name), name])),
        output: { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
      },
    },
  });
  const files = PACKAGES.map((name) => [name, `./${toFileName(name)}.mjs`]);
  writeFileSync(join(draft, "use.mjs"), toHook(files));
  // Two runs may build it at the same time.
  if (existsSync(folder)) rmSync(draft, { recursive: true });
  else renameSync(draft, folder);
}

function toFileName(name: string): string {
  return name.replaceAll("/", "-");
}

/** Only modules of this checkout get the joined packages. */
function toHook(files: readonly string[][]): string {
  return `import { registerHooks } from "node:module";
const files = new Map(${JSON.stringify(files)}.map(([name, file]) => [name, new URL(file, import.meta.url).href]));
registerHooks({
  resolve(name, context, next) {
    const url = files.get(name);
    const isOurs = url !== undefined && context.parentURL?.startsWith(${JSON.stringify(pathToFileURL(ROOT).href)});
    return isOurs ? { url, format: "module", shortCircuit: true } : next(name, context);
  },
});
`;
}
