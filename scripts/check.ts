import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

// `npm run check`: everything about the code that can be told without running it.

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const RUNTIMES = ["server", "browser", "dashboard", "docs", "widget", "widget-tests", "sdk"];

type Check = { name: string; program: string; args: string[] };

/** Prints what the checks have to say, and returns the names of those that failed. */
export async function runChecks(): Promise<string[]> {
  const failed: string[] = [];
  for (const check of listChecks()) {
    if ((await runCheck(check)) !== 0) failed.push(check.name);
  }
  return failed;
}

function listChecks(): Check[] {
  const projects = RUNTIMES.map((runtime) => `tsconfig.${runtime}.json`).filter((file) =>
    existsSync(`${ROOT}/${file}`),
  );
  const types = projects.map((file) => ({
    name: `type check of ${file}`,
    program: "node_modules/typescript/bin/tsc",
    args: ["-p", file],
  }));
  const colors = process.stdout.isTTY ? [] : ["--colors=off"];
  return [...types, { name: "Biome", program: "node_modules/@biomejs/biome/bin/biome", args: ["ci", ...colors, "."] }];
}

function runCheck({ program, args }: Check): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("close", resolve);
  });
}

if (import.meta.main) {
  const failed = await runChecks();
  console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
