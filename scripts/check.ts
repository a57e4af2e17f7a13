import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { offerHelp } from "../src/server/lib/offer-help.ts";

// `npm run check`: type check and lint.

const ROOT = join(import.meta.dirname, "..");
const CACHE = join(ROOT, "node_modules/.cache/bookflow-types");
/** The slowest ones come first. The browser tests' check reads the types that the server's check writes, so it follows that one. */
const TYPE_CHECKS = [["server", "browser"], ["dashboard"], ["docs"], ["widget-tests"], ["widget"], ["sdk"], ["n8n"]];

/** The type checker is a Go program. It ends before it would need to collect garbage, which takes a quarter of its time. */
const ENVIRONMENT = { ...process.env, GOGC: "off", GOMEMLIMIT: "1500MiB" };

type Check = { name: string; program: string; args: string[] };

export async function runChecks(): Promise<string[]> {
  const waiting = listChecks();
  const failed: string[] = [];
  const work = async () => {
    for (let checks = waiting.shift(); checks !== undefined; checks = waiting.shift()) {
      for (const check of checks) {
        const { output, isGood } = await runCheck(check);
        process.stdout.write(output);
        if (isGood) continue;
        failed.push(check.name);
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return failed;
}

/** Lists of checks that run one after another, until one fails. */
function listChecks(): Check[][] {
  const colors = isTerminal() ? "--colors=force" : "--colors=off";
  const lint = { name: "Biome", program: "node_modules/@biomejs/biome/bin/biome", args: ["ci", colors, "."] };
  return [...TYPE_CHECKS.map((names) => names.map(toTypeCheck)), [lint]];
}

function toTypeCheck(name: string): Check {
  return {
    name: `type check of tsconfig.${name}.json`,
    program: "node_modules/typescript/bin/tsc",
    // Several type checkers repeat much of each other's work, so the projects run side by side instead.
    args: ["-p", `tsconfig.${name}.json`, "--checkers", "1", ...toCacheOptions(name), "--pretty", `${isTerminal()}`],
  };
}

/** After the first run only changed files are checked again. */
function toCacheOptions(name: string): string[] {
  return ["--incremental", "--tsBuildInfoFile", join(CACHE, `${name}.tsbuildinfo`)];
}

function isTerminal(): boolean {
  return process.stdout.isTTY === true;
}

function runCheck({ program, args }: Check): Promise<{ output: string; isGood: boolean }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: ROOT,
      env: ENVIRONMENT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => resolve({ output, isGood: code === 0 }));
  });
}

if (import.meta.main) {
  offerHelp(`npm run check

Type check and linter. npm run format fixes what the linter can fix.`);
  const failed = await runChecks();
  console.log(failed.length === 0 ? "All checks passed." : `Failed: ${failed.join(", ")}.`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
