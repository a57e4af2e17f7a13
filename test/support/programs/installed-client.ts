import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { buildClient } from "../../../sdk/build.ts";

// A folder with the client library installed.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The other packages that the examples import. */
const BESIDES = ["pg", "fastify", "express", "hono", "@hono/node-server"];

/** Built, packed and installed as it would be published, offline. */
export function installClient(): string {
  const { folder, project } = makeProject();
  const draft = join(folder, "draft");
  cpSync(join(ROOT, "sdk"), draft, { recursive: true, filter: (path) => path !== join(ROOT, "sdk/dist") });
  buildClient(join(draft, "dist"));
  const printed = runNpm(draft, ["pack", "--json", "--pack-destination", folder]);
  const [packed] = Object.values(JSON.parse(printed)) as { filename: string }[];
  runNpm(project, ["install", "--offline", join(folder, packed?.filename ?? "")]);
  linkBesides(project);
  return project;
}

/** The same files in the same places without npm, which takes longer than most tests. */
export function placeClient(): string {
  const { project } = makeProject();
  const home = join(project, "node_modules/@bookflow/client");
  buildClient(join(home, "dist"));
  cpSync(join(ROOT, "sdk/package.json"), join(home, "package.json"));
  linkBesides(project);
  return project;
}

function makeProject(): { folder: string; project: string } {
  const folder = mkdtempSync(join(tmpdir(), "bookflow client "));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  return { folder, project };
}

function runNpm(folder: string, args: string[]): string {
  const quiet = ["--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", `--cache=${folder}/../cache`];
  return execFileSync("npm", [...args, ...quiet], { cwd: folder, encoding: "utf8" });
}

function linkBesides(project: string): void {
  for (const name of BESIDES) {
    const link = join(project, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", name), link, "dir");
  }
}
