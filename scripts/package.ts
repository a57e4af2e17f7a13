import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { offerHelp } from "../src/server/lib/offer-help.ts";
import { buildBrowserFiles } from "./build.ts";

// `npm run package [FOLDER]`: packs the program as one .tgz that `npm install` accepts, with the `bookflow` command. Node runs
// no TypeScript under node_modules, so types are stripped from the server's files; everything else is copied unchanged.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const AS_THEY_ARE = ["dist", "migrations", "LICENSE", "README.md", ".env.example"];
/** The files served at /docs. */
const DOCUMENTS = [
  "docs",
  "sdk/examples",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "Dockerfile",
  "compose.yaml",
];
const KEPT_FIELDS = [
  "name",
  "version",
  "description",
  "license",
  "type",
  "engines",
  "imports",
  "dependencies",
] as const;
const FOR_TESTS = /\.test\.ts$/;

export function packProgram(outFolder: string): string {
  const draft = mkdtempSync(join(tmpdir(), "bookflow-package-"));
  try {
    for (const name of [...AS_THEY_ARE, ...DOCUMENTS]) cpSync(join(ROOT, name), join(draft, name), { recursive: true });
    for (const path of globSync("src/{contract,server}/**/*.{ts,css}", { cwd: ROOT })) copySource(path, draft);
    cpSync(join(ROOT, "scripts/launcher.js"), join(draft, "bookflow.js"));
    chmodSync(join(draft, "bookflow.js"), 0o755);
    writeFileSync(join(draft, "package.json"), `${JSON.stringify(toPackage(), null, 2)}\n`);
    const printed = execFileSync("npm", ["pack", "--json", "--pack-destination", outFolder], {
      cwd: draft,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [packed] = Object.values(JSON.parse(printed)) as { filename: string }[];
    return join(outFolder, packed?.filename ?? "");
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function copySource(path: string, draft: string): void {
  if (FOR_TESTS.test(path)) return;
  const text = readFileSync(join(ROOT, path), "utf8");
  const target = join(draft, path.replace(/\.ts$/, ".js"));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, path.endsWith(".ts") ? toJavaScript(text) : text);
}

/** Types become spaces, so that lines and columns in stack traces stay correct; file names in imports get their new ending. */
function toJavaScript(text: string): string {
  return stripTypeScriptTypes(text, { mode: "strip" }).replaceAll(
    /(\bfrom |\bimport |\bimport\(|\bnew URL\()"([^"]+)\.ts"/g,
    '$1"$2.js"',
  );
}

function toPackage(): object {
  const ours = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const kept = KEPT_FIELDS.map((name) => [name, ours[name]]);
  const { optionalDependencies } = ours;
  return { ...Object.fromEntries(kept), optionalDependencies, bin: { bookflow: "bookflow.js" } };
}

if (import.meta.main) {
  offerHelp(`npm run package [-- FOLDER]

Packs Bookflow as a .tgz for npm install, with the command bookflow. It is written to the folder; default: this one.`);
  await buildBrowserFiles();
  console.log(packProgram(resolve(process.argv[2] ?? ".")));
}
